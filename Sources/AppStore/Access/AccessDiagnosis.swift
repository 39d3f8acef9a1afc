package import Time

/// Whether Apple lets an app in, and if not, why: the reasons that a bare 401 or an empty list do not tell apart.
package struct AccessDiagnosis: Hashable, Sendable {
  /// What a probe of one environment saw.
  package enum Observation: Hashable, Sendable {
    /// Apple said that it knows no such transaction: it understood who asks.
    case unknownTransaction
    /// Something was found for the id that was asked about.
    case found
    /// Success, and nothing in it: neither an id that nobody has nor one of a customer is answered like that.
    case emptyList
    case unauthorized
    case appNotFound
    case rateLimited
    case failed(CallFailure.Code)
  }

  package enum Verdict: String, Sendable, CaseIterable {
    case accepted
    /// The key is refused here and in the other environment, and the clocks agree.
    case wrongKeyOrIssuer
    /// The sandbox accepts what Production refuses.
    case noProductionRelease
    /// Apple answers with nothing at all, as it does to a token with a bundle id that is not of the key's account.
    case wrongBundle
    /// Apple refuses, and its clock and ours are too far apart for a token to be valid.
    case skewedClock
    case unreachable
    case unclear
  }

  package let environment: APIEnvironment
  package let verdict: Verdict
  /// Our clock less Apple's, where Apple gave its date; to the second.
  package let skew: Interval?

  /// What Apple accepts of a clock is not documented; a token says it was made a minute ago and lives for 19 more.
  private static let tolerance = Interval.seconds(60)

  /// - Parameter other: what the other environment was seen to do, with the same credentials.
  package init(
    _ environment: APIEnvironment, _ observation: Observation, other: Observation?, skew: Interval?
  ) {
    self.environment = environment
    self.skew = skew
    let isSkewed = skew.map { abs($0.milliseconds) > Self.tolerance.milliseconds } ?? false
    verdict =
      switch observation {
      case .unknownTransaction, .found, .rateLimited: .accepted
      case .emptyList, .appNotFound: .wrongBundle
      case .unauthorized where isSkewed: .skewedClock
      case .unauthorized where environment == .production && Self.isLetIn(other): .noProductionRelease
      case .unauthorized: .wrongKeyOrIssuer
      case .failed(.unreachable), .failed(.untrusted), .failed(.interrupted): .unreachable
      case .failed: .unclear
      }
  }

  private static func isLetIn(_ observation: Observation?) -> Bool {
    switch observation {
    case .unknownTransaction, .found, .emptyList, .rateLimited, .appNotFound: true
    case .unauthorized, .failed, nil: false
    }
  }

  /// What it means, and what to do.
  package var explanation: String {
    switch verdict {
    case .accepted: "Apple accepts key, issuer and bundle id"
    case .wrongKeyOrIssuer:
      "Apple refuses the token: check issuer id and key id, that the .p8 file is that key's, that the key is one for "
        + "In-App Purchase and not revoked"
    case .noProductionRelease:
      "the sandbox accepts the key, Production does not: Apple knows no app in Production before its first release"
    case .wrongBundle:
      "Apple answers as to an app that is not of this account: check the bundle id, and the account that made the key"
    case .skewedClock:
      "Apple refuses the token because this machine's clock is wrong: set it (chrony, timedatectl) and ask again"
    case .unreachable: "Apple was not reached: check network, proxy, host and trusted roots"
    case .unclear: "Apple did not answer in a way that tells; ask again later"
    }
  }
}

package import Time

/// Whether Apple lets an app in, and if not, why: the reasons that a bare 401 or an empty list do not tell apart.
package struct AccessDiagnosis: Hashable, Sendable {
  /// What a probe of one environment saw.
  package enum Observation: Hashable, Sendable {
    /// Apple said that it knows no such transaction: it understood who asks, but may say so to a wrong bundle id, too.
    case unknownTransaction
    /// Something was found for the id that was asked about.
    case found
    /// Success, and nothing in it: neither an id that nobody has nor one of a customer is answered like that.
    case emptyList
    case unauthorized
    case appNotFound
    case rateLimited
    case failed(APIError.Code)
  }

  package enum Outcome: String, Sendable, CaseIterable {
    /// Apple found what is the app's.
    case accepted
    /// Apple knows who asks; whether it is for the right app, only an id of the app's would tell.
    case keyAccepted
    /// The key is refused here and in the other environment, and the clocks agree.
    case wrongKeyOrIssuer
    /// The sandbox accepts what Production refuses.
    case noProductionRelease
    /// Apple answers with nothing at all, as it does to a token with a bundle id that is not of the key's account, or
    /// knows an id of the app's in neither environment.
    case wrongBundle
    /// Apple refuses, and its clock and ours are too far apart for a new token to be valid.
    case skewedClock
    case unreachable
    case unclear
  }

  package let environment: APIEnvironment
  package let verdict: Outcome
  /// Our clock less Apple's, where Apple gave its date; to the second.
  package let skew: Interval?

  /// - Parameters:
  ///   - other: what the other environment was seen to do, with the same credentials.
  ///   - isOwn: whether the id that was asked about is said to be one of the app's.
  package init(
    _ environment: APIEnvironment, _ observation: Observation, other: Observation?, skew: Interval?,
    askedAboutOwn isOwn: Bool
  ) {
    self.environment = environment
    self.skew = skew
    // What Apple accepts of a clock beyond what the token says is not documented.
    let ahead = skew?.milliseconds ?? 0
    let isSkewed = ahead > TokenIssuer.mayBeAhead.milliseconds || -ahead > TokenIssuer.mayBeBehind.milliseconds
    verdict =
      switch observation {
      case .found: .accepted
      // An id is known in one of the two.
      case .unknownTransaction where other == .found: .accepted
      case .unknownTransaction where isOwn && other == .unknownTransaction: .wrongBundle
      case .unknownTransaction: .keyAccepted
      case .rateLimited: .unclear
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

  /// Whether Apple knows who asks, so that an answer of nothing means something.
  package var acceptsKey: Bool { verdict == .accepted || verdict == .keyAccepted }

  /// What it means, and what to do.
  package var explanation: String {
    switch verdict {
    case .accepted: "Apple accepts key, issuer and bundle id"
    case .keyAccepted:
      "Apple accepts key and issuer; only a transaction id of the app shows whether the bundle id is right: give one"
    case .wrongKeyOrIssuer:
      "Apple refuses the token: check issuer id and key id, that the .p8 file is that key's, that the key is one for "
        + "In-App Purchase and not revoked"
    case .noProductionRelease:
      "the sandbox accepts the key, Production does not: Apple knows no app in Production before its first release"
    case .wrongBundle:
      "Apple answers as to an app that is not of this account: check the bundle id, the account that made the key, and "
        + "the transaction id if you gave one"
    case .skewedClock:
      "Apple refuses the token because this machine's clock is wrong: set it (chrony, timedatectl) and ask again"
    case .unreachable: "Apple was not reached: check network, proxy, host and trusted roots"
    case .unclear: "Apple's response does not show it; ask again later"
    }
  }
}

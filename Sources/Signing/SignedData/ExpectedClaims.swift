/// The claims that signed data must have to be accepted; `nil` is not checked.
public struct ExpectedClaims: Hashable, Sendable {
  /// The accepted environments, and whether unsigned data is accepted: no case accepts it together with Production.
  public enum Environment: Hashable, Sendable {
    /// Any environment that the data claims, below the roots trusted for it.
    case any
    /// Only this one.
    ///
    /// Data without one counts as this one.
    case only(AppStoreEnvironment)
    /// Only data of Xcode or LocalTesting without a trusted signature.
    case unsignedTestData
  }

  public var bundleID: String?
  /// Compared whenever the data has one; data of Production that should have one must.
  public var appAppleID: Int64?
  public var environment: Environment
  /// The environment of data without one, as its envelope names it; `nil` leaves it open.
  public var unnamedEnvironment: AppStoreEnvironment?

  public init(
    bundleID: String? = nil, appAppleID: Int64? = nil, environment: Environment = .any,
    unnamedEnvironment: AppStoreEnvironment? = nil
  ) {
    self.bundleID = bundleID
    self.appAppleID = appAppleID
    self.environment = environment
    self.unnamedEnvironment = unnamedEnvironment
  }

  /// Throws for claims that are not as expected; `environment` is the one whose roots verified the payload.
  func check(_ claims: CheckedClaims, in environment: AppStoreEnvironment?) throws(VerificationError) {
    if let bundleID, claims.kind != .renewal, claims.kind != .realtimeRequest {
      guard let seen = claims.bundleID else {
        throw VerificationError(.missingClaim, "no bundleId, \(quoted(bundleID)) was expected")
      }
      guard seen == bundleID else {
        throw VerificationError(.wrongBundle, "bundleId is \(quoted(seen)) instead of \(quoted(bundleID))")
      }
    }
    if let appAppleID, claims.kind != .renewal, claims.kind != .transaction {
      if let seen = claims.appAppleID {
        guard seen == appAppleID else {
          throw VerificationError(.wrongAppAppleId, "appAppleId is \(seen) instead of \(appAppleID)")
        }
      } else if environment == .production {
        throw VerificationError(.missingClaim, "no appAppleId, which Production must have; \(appAppleID) was expected")
      }
    }
    if let environment {
      try check(environment)
    } else if claims.kind?.namesItsEnvironment != false || self.environment != .any {
      throw VerificationError(.missingClaim, "no environment")
    }
  }

  private func check(_ seen: AppStoreEnvironment) throws(VerificationError) {
    switch environment {
    case .any: return
    case .only(let expected):
      guard seen == expected else {
        throw VerificationError(
          .wrongEnvironment, "the environment is \(seen.rawValue) instead of \(expected.rawValue)")
      }
    case .unsignedTestData:
      guard !seen.isSignedByApple else {
        throw VerificationError(
          .wrongEnvironment, "the environment is \(seen.rawValue) instead of Xcode or LocalTesting")
      }
    }
  }

  var fallback: AppStoreEnvironment? {
    switch environment {
    case .any, .unsignedTestData: unnamedEnvironment
    case .only(let environment): environment
    }
  }

  var allowsUnsignedTestData: Bool {
    switch environment {
    case .any, .only: false
    case .unsignedTestData: true
    }
  }
}

public import JSON
public import Time

/// Verifies what the App Store signs: notifications with everything inside them, transactions, renewals.
///
/// Call it from any thread; it blocks for the length of a signature, never on a network. Other than Apple's libraries it verifies the nested JWS of a notification too and compares what they say, keeps
/// verified chains also when no revocation is asked about, and gives each cause of a refusal its own code.
public final class SignedDataVerifier: Sendable {
  /// The bounds of what is read and kept.
  public struct Limits: Sendable {
    /// The longest JWS that is looked at; Apple's notifications are 10-20 KB.
    public var bytes: Int
    /// Verified chains kept, and headers kept.
    public var cachedChains: Int

    public init(bytes: Int = 256 << 10, cachedChains: Int = 64) {
      self.bytes = bytes
      self.cachedChains = cachedChains
    }
  }

  private let verifier: JWSVerifier
  private let tables: KeyTables

  public convenience init(roots: TrustedRoots, limits: Limits = Limits()) {
    self.init(roots: roots, limits: limits, revocations: nil)
  }

  /// - Parameter revocations: looked up for each message; without it no certificate counts as revoked.
  package init(
    roots: TrustedRoots, limits: Limits = Limits(), tables: KeyTables? = nil, revocations: RevocationCache?
  ) {
    self.tables = tables ?? KeyTables(.init(keys: limits.cachedChains))
    verifier = JWSVerifier(
      roots: roots, limit: limits.bytes, cacheCapacity: limits.cachedChains, tables: self.tables,
      revocations: revocations)
  }

  /// What the caches hold and how many chains were built, for tests and metrics.
  package var counts: (headers: Int, chains: Int, chainsBuilt: Int) { verifier.counts }
  /// The tables of keys that are in use, that were made, and that contradicted EVP.
  package var tableCounts: (used: Int, made: Int, distrusted: Int) { tables.counts }

  /// The notification of a `signedPayload`, with its nested JWS verified below the same roots and compared with it.
  ///
  /// `now` counts only for data that carries no date of its own.
  public func verifyNotification(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> VerifiedNotification {
    let outer = try verify(jws, due: .notification, expectation, now: now)
    // Whatever is wrong inside it: Apple signed it.
    do throws(VerificationError) { return try notification(outer, expectation, now: now) } catch {
      throw outer.payload.isSigned ? error.proven() : error
    }
  }

  /// A `signedTransactionInfo`.
  public func verifyTransaction(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .transaction, expectation, now: now).payload
  }

  /// A `signedRenewalInfo`; it has no bundle id to be checked.
  public func verifyRenewal(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .renewal, expectation, now: now).payload
  }

  /// A `signedAppTransactionInfo`, verified at its receiptCreationDate.
  public func verifyAppTransaction(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .appTransaction, expectation, now: now).payload
  }

  /// Signed data of whatever kind.
  public func verifyAny(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> VerifiedPayload {
    let checked = try verify(jws, due: nil, expectation, now: now)
    switch checked.kind {
    case .notification: return .notification(try notification(checked, expectation, now: now))
    case .transaction: return .transaction(checked.payload)
    case .renewal: return .renewal(checked.payload)
    case .appTransaction: return .appTransaction(checked.payload)
    case .realtimeRequest: return .realtimeRequest(checked.payload)
    }
  }

  private struct Checked {
    let kind: PayloadKind
    let payload: Verified<JSONObject>
    let claims: CheckedClaims
  }

  private func verify(
    _ jws: [UInt8], due: PayloadKind?, _ expectation: ExpectedClaims, fallback: AppStoreEnvironment? = nil,
    now: Timestamp
  ) throws(VerificationError) -> Checked {
    var read: CheckedClaims?
    var isMisread = false
    let payload: Verified<JSONObject>
    do throws(VerificationError) {
      payload = try verifier.verify(jws, now: now) { payload throws(VerificationError) in
        let claims: CheckedClaims
        do throws(VerificationError) { claims = try CheckedClaims(payload) } catch {
          isMisread = true
          throw error
        }
        read = claims
        let mayNameNone = claims.kind?.namesItsEnvironment == false
        return JWSVerifier.Claims(
          environment: claims.environment ?? (mayNameNone ? fallback ?? expectation.fallback : nil),
          signedAt: claims.signedAt, allowsUnsignedTestData: expectation.allowsUnsignedTestData)
      }
    } catch {
      if isMisread { throw isSignedNotification(jws, now: now) ? error.proven() : error }
      throw error
    }
    guard let claims = read, let kind = claims.kind, due == nil || kind == due else {
      let seen = read?.kind?.rawValue ?? "nothing known"
      throw VerificationError(.unexpectedKind, "the payload is of kind \(seen) instead of \(due?.rawValue ?? "any")")
    }
    do throws(VerificationError) {
      if kind == .notification, claims.carrier == nil {
        throw VerificationError(.missingClaim, "none of data, summary, externalPurchaseToken, appData")
      }
      try expectation.check(claims, in: payload.environment)
    } catch { throw kind == .notification && payload.isSigned ? error.proven() : error }
    return Checked(kind: kind, payload: payload, claims: claims)
  }

  /// Whether a payload whose claims cannot be read is nevertheless a notification that Apple signed.
  ///
  /// Its environment is not known: the roots of Production or of the sandbox may vouch for it.
  private func isSignedNotification(_ jws: [UInt8], now: Timestamp) -> Bool {
    for environment in [AppStoreEnvironment.production, .sandbox] {
      let payload = try? verifier.verify(jws, now: now) { payload throws(VerificationError) in
        JWSVerifier.Claims(
          environment: environment, signedAt: try? payload.claim(date: "signedDate"),
          allowsUnsignedTestData: false)
      }
      if let payload { return PayloadKind(of: payload.payload) == .notification }
    }
    return false
  }
}

extension Verified {
  /// Whether a chain vouches for it: no data of Xcode.
  fileprivate var isSigned: Bool {
    switch trust {
    case .chain: true
    case .unsignedTestData: false
    }
  }
}

extension SignedDataVerifier {
  private func notification(
    _ outer: Checked, _ expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> VerifiedNotification {
    guard let bundleID = outer.claims.bundleID else {
      throw VerificationError(.missingClaim, "the notification has no bundleId")
    }
    guard let environment = outer.claims.environment else {
      throw VerificationError(.missingClaim, "the notification has no environment")
    }
    let envelope = NotificationEnvelope(
      bundleID: bundleID, appAppleID: outer.claims.appAppleID, environment: environment)
    let inner = ExpectedClaims(environment: expectation.allowsUnsignedTestData ? .unsignedTestData : .any)
    func nested(_ carrier: String, _ key: String, _ kind: PayloadKind) throws(VerificationError) -> Checked? {
      let payload = outer.payload.payload
      guard let jws = try payload.claim(object: carrier)?.claim(string: key) else { return nil }
      do throws(VerificationError) {
        let checked = try verify(Array(jws.utf8), due: kind, inner, fallback: environment, now: now)
        try envelope.check(checked.claims)
        return checked
      } catch { throw error.within("\(carrier).\(key)") }
    }
    let transaction = try nested("data", "signedTransactionInfo", .transaction)
    let renewal = try nested("data", "signedRenewalInfo", .renewal)
    let appTransaction = try nested("appData", "signedAppTransactionInfo", .appTransaction)
    try NotificationEnvelope.checkNeighbours(transaction?.payload.payload, renewal?.payload.payload)
    return VerifiedNotification(
      notification: outer.payload, transaction: transaction?.payload, renewal: renewal?.payload,
      appTransaction: appTransaction?.payload, bundleID: bundleID, environment: environment,
      appAppleID: envelope.appAppleID)
  }
}

/// A notification with everything inside it verified and found to agree.
public struct VerifiedNotification: Sendable {
  public let notification: Verified<JSONObject>
  public let transaction: Verified<JSONObject>?
  public let renewal: Verified<JSONObject>?
  public let appTransaction: Verified<JSONObject>?
  public let bundleID: String
  public let environment: AppStoreEnvironment
  public let appAppleID: Int64?

  fileprivate init(
    notification: Verified<JSONObject>, transaction: Verified<JSONObject>?, renewal: Verified<JSONObject>?,
    appTransaction: Verified<JSONObject>?, bundleID: String, environment: AppStoreEnvironment, appAppleID: Int64?
  ) {
    self.notification = notification
    self.transaction = transaction
    self.renewal = renewal
    self.appTransaction = appTransaction
    self.bundleID = bundleID
    self.environment = environment
    self.appAppleID = appAppleID
  }
}

/// Verified data of the kind it turned out to be.
public enum VerifiedPayload: Sendable {
  case notification(VerifiedNotification)
  case transaction(Verified<JSONObject>)
  case renewal(Verified<JSONObject>)
  case appTransaction(Verified<JSONObject>)
  case realtimeRequest(Verified<JSONObject>)
}

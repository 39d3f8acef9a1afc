public import JSON
public import Time

/// Verifies data that the App Store signs: notifications with their nested data, transactions, renewals.
///
/// Call it from any thread; it blocks for the time of a signature check, never on a network. Unlike Apple's libraries,
/// it also verifies the nested JWS of a notification and compares their claims. It caches verified chains even without
/// revocation checks, and has a separate code for each cause of rejection.
public final class SignedDataVerifier: Sendable {
  /// The limits of input and caches.
  public struct Limits: Sendable {
    /// The longest accepted JWS; Apple's notifications are 10-20 KB.
    public var bytes: Int
    /// The number of cached chains, and of cached headers.
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

  /// - Parameter revocations: checked for each message; without it no certificate counts as revoked.
  package init(
    roots: TrustedRoots, limits: Limits = Limits(), tables: KeyTables? = nil, revocations: RevocationCache?
  ) {
    self.tables = tables ?? KeyTables(.init(keys: limits.cachedChains))
    verifier = JWSVerifier(
      roots: roots, limit: limits.bytes, cacheCapacity: limits.cachedChains, tables: self.tables,
      revocations: revocations)
  }

  /// The sizes of the caches and the number of chains built, for tests and metrics.
  package var counts: (headers: Int, chains: Int, chainsBuilt: Int) { verifier.counts }
  /// The numbers of key tables that are in use, that were made, and that contradicted EVP.
  package var tableCounts: (used: Int, made: Int, distrusted: Int) { tables.counts }

  /// Verifies a `signedPayload`, with its nested JWS below the same roots, and compares their claims.
  ///
  /// `now` counts only for data without its own date.
  public func verifyNotification(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> VerifiedNotification {
    let outer = try verify(jws, due: .notification, expectation, now: now)
    // Apple signed it, regardless of errors inside it.
    do throws(VerificationError) { return try notification(outer, expectation, now: now) } catch {
      throw outer.payload.isSigned ? error.proven() : error
    }
  }

  /// Verifies a `signedTransactionInfo`.
  public func verifyTransaction(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .transaction, expectation, now: now).payload
  }

  /// Verifies a `signedRenewalInfo`, which has no bundle ID to check.
  public func verifyRenewal(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .renewal, expectation, now: now).payload
  }

  /// Verifies a `signedAppTransactionInfo` at its receiptCreationDate.
  public func verifyAppTransaction(
    _ jws: [UInt8], expecting expectation: ExpectedClaims, now: Timestamp
  ) throws(VerificationError) -> Verified<JSONObject> {
    try verify(jws, due: .appTransaction, expectation, now: now).payload
  }

  /// Verifies signed data of any kind.
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

  /// Whether a payload with unreadable claims is nevertheless a notification that Apple signed.
  ///
  /// Its environment is unknown, so the roots of Production and of the sandbox count.
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
  /// Whether it has a trusted chain, unlike data of Xcode.
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

/// A notification with all nested data verified and in agreement.
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

/// Verified data of the detected kind.
public enum VerifiedPayload: Sendable {
  case notification(VerifiedNotification)
  case transaction(Verified<JSONObject>)
  case renewal(Verified<JSONObject>)
  case appTransaction(Verified<JSONObject>)
  case realtimeRequest(Verified<JSONObject>)
}

package import JSON
import Time

/// The kind of a signed payload, determined by its claims because a JWS does not name it.
public enum PayloadKind: String, Hashable, Sendable, CaseIterable {
  case notification, transaction, renewal, appTransaction
  /// Retention Messaging's request to choose a message.
  case realtimeRequest

  /// Returns `nil` for a payload without the members of any kind.
  ///
  /// A renewal never has a bundle ID, a transaction nearly always: Apple's API sometimes returns one without it, mostly
  /// an old non-consumable. Tests sign renewals with only environment and date.
  package init?(of payload: JSONObject) {
    func has(_ keys: String...) -> Bool { keys.contains { payload[$0] != nil } }
    if has("notificationType", "notificationUUID", "data", "summary", "externalPurchaseToken", "appData") {
      self = .notification
    } else if has("receiptType", "receiptCreationDate", "originalApplicationVersion") {
      self = .appTransaction
    } else if has("requestIdentifier", "userLocale") {
      self = .realtimeRequest
    } else if has("autoRenewProductId", "autoRenewStatus") {
      self = .renewal
    } else if has("bundleId", "transactionId", "purchaseDate", "type") {
      self = .transaction
    } else if has("originalTransactionId", "autoRenewProductId", "autoRenewStatus", "environment", "signedDate") {
      self = .renewal
    } else {
      return nil
    }
  }

  /// Whether Apple always includes the environment; transactions and renewals of 2021 lack it.
  var namesItsEnvironment: Bool {
    switch self {
    case .notification, .appTransaction: true
    case .transaction, .renewal, .realtimeRequest: false
    }
  }
}

struct CheckedClaims {
  let kind: PayloadKind?
  let bundleID: String?
  let appAppleID: Int64?
  let environment: AppStoreEnvironment?
  let signedAt: Timestamp?
  /// The notification's member that carries bundle ID, app ID and environment.
  let carrier: String?

  init(_ payload: JSONObject) throws(VerificationError) {
    kind = PayloadKind(of: payload)
    switch kind {
    case .notification:
      let found = try Self.carrier(of: payload)
      carrier = found?.name
      bundleID = try found?.claims.claim(string: "bundleId")
      appAppleID = try found?.claims.claim(integer: "appAppleId")
      environment = try found.flatMap { found throws(VerificationError) in
        try Self.environment(found.claims, carrier: found.name)
      }
      signedAt = try payload.claim(date: "signedDate")
    case .appTransaction:
      carrier = nil
      bundleID = try payload.claim(string: "bundleId")
      appAppleID = try payload.claim(integer: "appAppleId")
      environment = try payload.claim(environment: "receiptType")
      signedAt = try payload.claim(date: "receiptCreationDate")
    case .transaction, .renewal, .realtimeRequest, nil:
      carrier = nil
      bundleID = try payload.claim(string: "bundleId")
      appAppleID = try payload.claim(integer: "appAppleId")
      environment = try payload.claim(environment: "environment")
      signedAt = try payload.claim(date: "signedDate")
    }
  }

  /// Returns the first of `data`, `summary`, `externalPurchaseToken` and `appData`, in the order of Apple's libraries.
  private static func carrier(
    of payload: JSONObject
  ) throws(VerificationError) -> (name: String, claims: JSONObject)? {
    for name in ["data", "summary", "externalPurchaseToken", "appData"] {
      if let claims = try payload.claim(object: name) { return (name, claims) }
    }
    return nil
  }

  /// Returns the environment.
  ///
  /// A token of external purchases names none: its ID begins with SANDBOX, or it is of Production.
  private static func environment(
    _ claims: JSONObject, carrier: String
  ) throws(VerificationError) -> AppStoreEnvironment? {
    guard carrier == "externalPurchaseToken" else { return try claims.claim(environment: "environment") }
    guard let id = try claims.claim(string: "externalPurchaseId") else { return nil }
    return id.utf8.starts(with: "SANDBOX".utf8) ? .sandbox : .production
  }
}

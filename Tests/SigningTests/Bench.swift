/// A workbench for forgeries: one PKI per run, the verifier that trusts it, and payloads like Apple's.
enum Bench {
  /// 2026-01-01T00:00:00Z.
  static let now = Timestamp(1_767_225_600_000)
  static let bundleID = "com.example.app"
  static let appAppleID: Int64 = 1_234_567

  static let pki: ApplePKI = make()
  /// Another of the same names, trusted by nobody.
  static let stranger: ApplePKI = make()

  static func make(_ change: (inout ApplePKI.Blueprint) -> Void = { _ in }) -> ApplePKI {
    var blueprint = ApplePKI.Blueprint(at: now)
    change(&blueprint)
    do { return try ApplePKI.generate(at: now, blueprint) } catch { preconditionFailure("no PKI: \(error)") }
  }

  /// A new intermediate and leaf below the trusted root.
  static func below(_ root: ApplePKI, _ change: (inout ApplePKI.Blueprint) -> Void) throws -> ApplePKI {
    var blueprint = ApplePKI.Blueprint(at: now)
    change(&blueprint)
    return try ApplePKI.generate(below: root.root, blueprint)
  }

  static func verifier(_ pki: ApplePKI = pki) throws -> SignedDataVerifier {
    SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()]))
  }

  static let transaction: JSONObject = [
    "originalTransactionId": "2000000000000001", "transactionId": "2000000000000002", "bundleId": .string(bundleID),
    "productId": "pro.monthly", "purchaseDate": .integer(now.sinceEpoch), "type": "Auto-Renewable Subscription",
    "environment": "Production", "signedDate": .integer(now.sinceEpoch),
  ]

  static let renewal: JSONObject = [
    "originalTransactionId": "2000000000000001", "autoRenewProductId": "pro.monthly", "productId": "pro.monthly",
    "autoRenewStatus": 1, "environment": "Production", "signedDate": .integer(now.sinceEpoch),
  ]

  static let appTransaction: JSONObject = [
    "receiptType": "Production", "appAppleId": .integer(appAppleID), "bundleId": .string(bundleID),
    "applicationVersion": "1", "receiptCreationDate": .integer(now.sinceEpoch), "originalApplicationVersion": "1",
  ]

  static let data: JSONObject = [
    "appAppleId": .integer(appAppleID), "bundleId": .string(bundleID), "bundleVersion": "1",
    "environment": "Production", "status": 1,
  ]

  /// A notification of `data` with whatever is nested in it signed by `pki`.
  static func notification(
    _ pki: ApplePKI = pki, data: JSONObject? = Bench.data, transaction: JSONObject? = nil, renewal: JSONObject? = nil,
    changed: [String: JSONValue?] = [:]
  ) throws -> JSONObject {
    var notification: JSONObject = [
      "notificationType": "DID_RENEW", "notificationUUID": "9ad56bd2-0bc6-42e0-af24-fd996d87a1e6", "version": "2.0",
      "signedDate": .integer(now.sinceEpoch),
    ]
    if var data {
      if let transaction { data["signedTransactionInfo"] = text(try pki.sign(transaction)) }
      if let renewal { data["signedRenewalInfo"] = text(try pki.sign(renewal)) }
      notification["data"] = .object(data)
    }
    for (key, value) in changed { notification[key] = value }
    return notification
  }

  static func text(_ jws: [UInt8]) -> JSONValue { .string(String(decoding: jws, as: UTF8.self)) }
}

extension JSONObject {
  /// The same with some members replaced, or removed by nil.
  func with(_ changes: [String: JSONValue?]) -> JSONObject {
    var changed = self
    for (key, value) in changes { changed[key] = value }
    return changed
  }
}

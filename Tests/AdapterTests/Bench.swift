/// Payloads of one app, signed below a PKI of their own, and the adapter that trusts it in every environment.
enum Bench {
  static let now = Timestamp(1_780_000_000_000)
  static let signed = now - .hours(1)
  static let app = "com.example.adapter"
  static let original = "2000000900000001"
  static let pki: ApplePKI = make()
  static let stranger: ApplePKI = make()
  static let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: TrustedRoots(exactly: roots(pki))))

  static let transaction: JSONObject = [
    "transactionId": .string(original), "originalTransactionId": .string(original), "webOrderLineItemId": "1000001",
    "bundleId": .string(app), "productId": "monthly", "subscriptionGroupIdentifier": "21",
    "purchaseDate": .integer((signed - .days(1)).sinceEpoch), "expiresDate": .integer((signed + .days(29)).sinceEpoch),
    "type": "Auto-Renewable Subscription", "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
    "appTransactionId": "700001",
  ]

  static let renewal: JSONObject = [
    "originalTransactionId": .string(original), "autoRenewProductId": "monthly", "autoRenewStatus": 1,
    "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox", "appTransactionId": "700001",
  ]

  static let download: JSONObject = [
    "bundleId": .string(app), "receiptType": "Sandbox", "appTransactionId": "700001",
    "originalApplicationVersion": "1.0", "receiptCreationDate": .integer(signed.sinceEpoch),
  ]

  static func sign(_ payload: JSONObject, by signer: ApplePKI = pki) throws -> String {
    String(decoding: try signer.sign(payload), as: UTF8.self)
  }

  static func signedValue(_ payload: JSONObject) throws -> JSONValue { .string(try sign(payload)) }

  /// The `data` of a notification.
  static func data(_ transaction: JSONObject? = transaction, _ renewal: JSONObject? = nil) throws -> JSONObject {
    var data: JSONObject = ["bundleId": .string(app), "environment": "Sandbox"]
    data["signedTransactionInfo"] = try transaction.map(signedValue)
    data["signedRenewalInfo"] = try renewal.map(signedValue)
    return data
  }

  /// The payload of a notification, not yet signed.
  static func payload(
    _ type: String? = "DID_RENEW", _ subtype: String? = nil, _ carrier: String = "data", _ content: JSONObject
  ) -> JSONObject {
    var payload: JSONObject = ["notificationUUID": "u-1", "version": "2.0", "signedDate": .integer(signed.sinceEpoch)]
    payload["notificationType"] = type.map(JSONValue.string)
    payload["subtype"] = subtype.map(JSONValue.string)
    payload[carrier] = .object(content)
    return payload
  }

  static func body(_ payload: JSONObject, by signer: ApplePKI = pki) throws -> [UInt8] {
    let body: JSONObject = ["signedPayload": .string(try sign(payload, by: signer))]
    return body.encoded()
  }

  /// A notification with a chain of empty certificates and no signature.
  static func unsigned(_ payload: JSONObject) -> [UInt8] {
    let header: JSONObject = ["alg": "ES256", "x5c": ["", "", ""]]
    let parts = [header.encoded(), payload.encoded(), [UInt8](repeating: 0, count: 64)]
    let jws = parts.map { String(decoding: Base64.url.encode($0), as: UTF8.self) }.joined(separator: ".")
    let body: JSONObject = ["signedPayload": .string(jws)]
    return body.encoded()
  }

  static func read(_ body: [UInt8], at now: Timestamp = now) throws(MessageError) -> DecodedMessage {
    try adapter.notification(body, message: .sha256(body), now: now)
  }

  static func read(_ payload: JSONObject) throws -> DecodedMessage { try read(body(payload)) }

  static func evidence(
    _ body: [UInt8], of app: String = app, in environment: Environment? = nil
  ) throws(MessageError) -> DecodedMessage {
    try adapter.evidence(body, app: app, environment: environment, message: .sha256(body), now: now)
  }

  static func evidence(_ answer: JSONObject, in environment: Environment? = nil) throws(MessageError) -> DecodedMessage
  {
    try evidence(answer.encoded(), in: environment)
  }

  /// The same answer, fetched from Apple by us.
  static func fetched(_ answer: JSONObject, in environment: Environment? = nil) throws(MessageError) -> DecodedMessage {
    let body = answer.encoded()
    return try adapter.apiAnswer(body, app: app, environment: environment, message: .sha256(body), now: now)
  }

  /// A bare JWS as evidence.
  static func evidence(signing payload: JSONObject, in environment: Environment? = nil) throws -> DecodedMessage {
    try evidence(Array(sign(payload).utf8), in: environment)
  }

  static func with(_ object: JSONObject, _ key: String, _ value: JSONValue?) -> JSONObject {
    var changed = object
    changed[key] = value
    return changed
  }

  static func roots(_ pki: ApplePKI) -> [RootCertificate] {
    do { return [try pki.trustedRoot()] } catch { preconditionFailure("no root: \(error)") }
  }

  private static func make() -> ApplePKI {
    do { return try ApplePKI.generate(at: now) } catch { preconditionFailure("no PKI: \(error)") }
  }
}

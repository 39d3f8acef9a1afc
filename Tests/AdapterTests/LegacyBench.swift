/// V1 bodies by days: what happened when is what they are about.
extension Bench {
  static let day0 = Timestamp(1_600_000_000_000)
  static let receiptPKI = ReceiptPKI.known(at: now)
  static let legacyAdapter = legacyMake {
    MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()])),
      receipts: ReceiptReader(trust: ReceiptTrust(exactly: [try receiptPKI.trustedRoot()])))
  }

  static func day(_ day: Int64) -> Timestamp { day0 + .days(day) }
  static func ms(_ day: Int64) -> JSONValue { .string(String(Bench.day(day).sinceEpoch)) }

  /// A period of the subscription 1000, bought and ended on these days; its line is 9 and its transaction id.
  static func row(
    _ id: String, _ product: String, _ start: Int64, _ end: Int64, _ more: JSONObject = [:]
  ) -> JSONObject {
    var row: JSONObject = [
      "quantity": "1", "product_id": .string(product), "transaction_id": .string(id),
      "original_transaction_id": "1000", "purchase_date_ms": ms(start), "expires_date_ms": ms(end),
      "web_order_line_item_id": .string("9\(id)"), "subscription_group_identifier": "21",
    ]
    for member in more { row[member.key] = member.value }
    return row
  }

  static func row(_ id: String, _ start: Int64, _ end: Int64, _ more: JSONObject = [:]) -> JSONObject {
    row(id, "monthly", start, end, more)
  }

  static func v1(
    _ type: String, _ rows: [JSONObject], _ pending: JSONObject = [:], _ top: JSONObject = [:]
  ) -> JSONObject {
    var renewal: JSONObject = [
      "original_transaction_id": "1000", "product_id": "monthly", "auto_renew_product_id": "monthly",
      "auto_renew_status": "1",
    ]
    for member in pending { renewal[member.key] = member.value }
    var body: JSONObject = [
      "notification_type": .string(type), "password": "secret", "environment": "Sandbox", "bid": .string(app),
      "auto_renew_product_id": "monthly",
      "unified_receipt": [
        "status": 0, "environment": "Sandbox", "latest_receipt_info": .array(rows.map { .object($0) }),
        "pending_renewal_info": [.object(renewal)],
      ],
    ]
    for member in top { body[member.key] = member.value }
    return body
  }

  static func legacy(
    _ body: JSONObject, app: String? = app, trust: MessageDecoder.Proof = .sharedSecret,
    at received: Timestamp = day(45)
  ) throws(MessageError) -> DecodedMessage {
    let bytes = body.encoded()
    return try legacyAdapter.notification(
      bytes, message: .sha256(bytes),
      origin: V1Context(app: app, environment: nil, trust: trust, receivedAt: received), now: received)
  }

  static func legacyEvidence(
    _ body: [UInt8], of app: String = app, in environment: Environment? = nil, userID: String? = nil
  ) throws(MessageError) -> DecodedMessage {
    try legacyAdapter.evidence(
      body, app: app, environment: environment, userID: userID, message: .sha256(body), now: now)
  }

  private static func legacyMake<Made>(_ body: () throws -> Made) -> Made {
    do { return try body() } catch { preconditionFailure("no workbench: \(error)") }
  }
}

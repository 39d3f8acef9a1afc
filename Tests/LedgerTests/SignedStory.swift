/// Notifications of a few made-up customers, signed below a PKI of their own, and the adapter that reads them.
struct SignedStory {
  static let app = "com.example.ledger"
  static let start = Timestamp(1_700_000_000_000)

  let pki: ApplePKI
  let adapter: MessageDecoder
  let messages: [InboxMessage]

  /// `customers` with `periods` periods each; refunds, reversals and two originalTransactionIds of one customer among them.
  ///
  /// Those of another `first` are other customers.
  init(customers: Int, periods: Int, first: Int = 0) throws {
    let pki = try ApplePKI.generate(at: Self.start)
    self.pki = pki
    adapter = MessageDecoder(verifier: SignedDataVerifier(roots: TrustedRoots(exactly: [try pki.trustedRoot()])))
    var messages: [InboxMessage] = []
    for customer in first..<first + customers {
      for group in 0..<2 {
        for period in 0..<periods {
          messages.append(
            try Self.renewal(pki, customer, group, period, type: period == 0 ? "SUBSCRIBED" : "DID_RENEW"))
        }
        messages.append(
          try Self.renewal(
            pki, customer, group, periods - 1, type: "REFUND", revokedAfter: .hours(1), signedAfter: .hours(2)))
        if customer.isMultiple(of: 2) {
          messages.append(
            try Self.renewal(pki, customer, group, periods - 1, type: "REFUND_REVERSED", signedAfter: .hours(3)))
        }
      }
    }
    self.messages = messages
  }

  private static func renewal(
    _ pki: ApplePKI, _ customer: Int, _ group: Int, _ period: Int, type: String, revokedAfter: Interval? = nil,
    signedAfter: Interval = .seconds(3)
  ) throws -> InboxMessage {
    let original = "2000000\(100 + customer)\(group)"
    let purchased = start + .days(Int64(30 * period))
    let signed = purchased + signedAfter
    var transaction: JSONObject = [
      "transactionId": .string("\(original)\(period)"), "originalTransactionId": .string(original),
      "webOrderLineItemId": .string("9\(original)\(period)"), "bundleId": .string(app),
      "productId": .string("group\(group).monthly"), "subscriptionGroupIdentifier": .string("2100\(group)"),
      "purchaseDate": .integer(purchased.sinceEpoch), "originalPurchaseDate": .integer(start.sinceEpoch),
      "expiresDate": .integer((purchased + .days(30)).sinceEpoch), "quantity": 1,
      "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
      "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
      "appTransactionId": .string("7000\(customer)"),
    ]
    if let revokedAfter {
      transaction["revocationDate"] = .integer((purchased + revokedAfter).sinceEpoch)
      transaction["revocationReason"] = 0
    }
    let renewal: JSONObject = [
      "originalTransactionId": .string(original), "autoRenewProductId": .string("group\(group).monthly"),
      "productId": .string("group\(group).monthly"), "autoRenewStatus": 1,
      "renewalDate": .integer((purchased + .days(30)).sinceEpoch), "signedDate": .integer(signed.sinceEpoch),
      "environment": "Sandbox",
    ]
    let data: JSONObject = [
      "bundleId": .string(app), "environment": "Sandbox",
      "signedTransactionInfo": .string(try sign(transaction, pki)),
      "signedRenewalInfo": .string(try sign(renewal, pki)),
    ]
    let payload: JSONObject = [
      "notificationType": .string(type), "notificationUUID": .string("\(type)-\(original)-\(period)"),
      "data": .object(data), "version": "2.0", "signedDate": .integer(signed.sinceEpoch),
    ]
    let body: JSONObject = ["signedPayload": .string(try sign(payload, pki))]
    return InboxMessage(kind: .notification, body: body.encoded(), receivedAt: signed)
  }

  private static func sign(_ payload: JSONObject, _ pki: ApplePKI) throws -> String {
    String(decoding: try pki.sign(payload: payload.encoded()), as: UTF8.self)
  }

  /// What a message says, and whose it is by the word of the back end: one user for each customer, and one who is said to
  /// have had every refund.
  func reading(_ message: InboxMessage) throws -> DecodedMessage {
    var reading = try adapter.notification(message.body, message: message.digest, now: message.receivedAt)
    var users = reading.findings.originalTransactionIDs.map { "user \($0.dropLast())" }
    if reading.title.hasPrefix("REFUND") { users.append("refunded") }
    for user in users {
      reading.findings.attribute(toUser: user, asOf: message.receivedAt, message: message.digest.bytes)
    }
    return reading
  }

  func entry(_ message: InboxMessage, for app: App) throws -> LedgerEntry {
    let reading = try reading(message)
    return LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(
          app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)))
  }
}

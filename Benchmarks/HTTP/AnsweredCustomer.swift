import Adapter
import JSON
import Ledger
import Signing
import Simulator
import Time

/// A customer with twenty monthly periods, of which the last runs: told by notifications, asked about by a receipt of two.
struct AnsweredCustomer: Sendable {
  static let secret = "0123456789abcdef0123456789abcdef"
  static let rows = 20
  /// Periods in the receipt: the newest.
  private static let sold = 2

  let number: Int
  private let periods: [SimulatedTransaction]
  /// How many periods are known of it.
  var rows: Int { periods.count }

  private static let product = Product.subscription("pro.monthly", group: "20662382", every: .months(1), price: 4_990)

  init(_ number: Int, rows: Int = Self.rows, at now: Timestamp) {
    self.number = number
    var ids = IdentifierSource(environment: .sandbox, seed: 1, life: number)
    let buyer = Customer(
      name: "", storefront: .germany, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var periods = (0..<rows).map { place in
      var period = SimulatedTransaction(
        of: Self.product, by: buyer, in: NotificationSamples.app,
        at: Timestamp(now.wholeSeconds * 1_000) - .days(10 + 30 * Int64(rows - 1 - place)), ids: &ids)
      period.expiresDate = period.purchaseDate + .days(30)
      period.reason = place == 0 ? .purchase : .renewal
      return period
    }
    for index in periods.indices.dropFirst() {
      periods[index].originalTransactionID = periods[0].transactionID
      periods[index].originalPurchaseDate = periods[0].purchaseDate
    }
    self.periods = periods
  }

  var originalTransactionID: String { periods[0].transactionID }

  /// What tells the ledger of each period, as Apple signs it.
  func entries(for app: App, reading adapter: MessageDecoder, signedBy signer: PayloadSigner) throws -> [LedgerEntry] {
    try periods.enumerated().map { place, period in
      let signed = period.purchaseDate + .seconds(1)
      var subject = NotificationSubject(transaction: period.payload(signedAt: signed))
      subject.renewal = SimulatedRenewal(after: period).payload(signedAt: signed)
      subject.status = 1
      let draft = NotificationDraft(
        place == 0 ? "SUBSCRIBED" : "DID_RENEW", place == 0 ? "INITIAL_BUY" : nil, of: NotificationSamples.app,
        at: signed, uuid: "answered-\(number)-\(place)", .data(subject))
      let body = try draft.signed(by: signer).body
      let message = InboxMessage(kind: .notification, body: body, receivedAt: signed)
      let reading = try adapter.notification(body, message: message.digest, now: signed)
      return LedgerEntry(
        message,
        .accepted(
          LedgerEntry.AcceptedMessage(
            app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)),
        proof: .proven)
    }
  }

  /// The bytes of a request to verifyReceipt.
  func request(signedBy pki: ReceiptPKI) throws -> [UInt8] {
    LoadGenerator.request(AnswersHTTP.path, try body(signedBy: pki))
  }

  /// The body of a request to verifyReceipt.
  ///
  /// - Parameter version: of so many receipts with the same purchases, each signed a second later.
  func body(signedBy pki: ReceiptPKI, version: Int = 0) throws -> [UInt8] {
    let receipt = SimulatedReceipt(
      of: NotificationSamples.app, purchases: Array(periods.suffix(Self.sold)),
      createdAt: periods[rows - 1].purchaseDate + .seconds(60 + Int64(version)))
    let body: JSONObject = [
      "receipt-data": .string(String(decoding: try receipt.encoded(signedBy: pki), as: UTF8.self)),
      "password": .string(Self.secret),
    ]
    return body.encoded()
  }
}

import Adapter
import Ledger
import Signing
import Simulator
import Time

/// One customer with thousands of purchases, told by notifications as Apple signs them.
struct LargeCustomer: Sendable {
  /// How the purchases belong together.
  enum Shape: String, Sendable, CaseIterable {
    /// Consumables: each has an originalTransactionId of its own, all have one appTransactionId.
    case linked
    /// Periods of one subscription: one originalTransactionId.
    case periods
  }

  let shape: Shape
  let purchases: Int
  /// From one purchase to the next.
  var every = Interval.minutes(10)

  private static let coins = Product(.consumable, id: "coins.100", price: 990)
  private static let lite = Product.subscription("lite.daily", group: "21000001", every: .days(1), price: 990)

  /// A number that no other customer of the benchmark has.
  private var number: Int64 { Int64(purchases) * 10 + (shape == .linked ? 1 : 2) }
  private var firstID: Int64 { 2_000_000_000_000_000 + number * 1_000_000 }

  /// The id by which the customer is looked up: of the first purchase.
  var id: String { String(firstID) }

  /// One purchase, counted from 0.
  private func purchase(_ place: Int, before end: Timestamp) -> SimulatedTransaction {
    let (first, date) = (moment(of: 0, before: end), moment(of: place, before: end))
    var ids = IdentifierSource(environment: .sandbox, seed: 1, life: 0)
    let buyer = Customer(
      name: "Large", storefront: .unitedStates, appTransactionID: String(700_000_000_000_000_000 + number),
      appAccountToken: "7e3f2a5c-0000-4000-8000-\(String(1_000_000_000_000 + number).dropFirst())")
    let product = shape == .linked ? Self.coins : Self.lite
    var bought = SimulatedTransaction(of: product, by: buyer, in: NotificationSamples.app, at: date, ids: &ids)
    bought.transactionID = String(firstID + Int64(place))
    bought.originalTransactionID = shape == .linked ? bought.transactionID : id
    guard shape == .periods else { return bought }
    bought.webOrderLineItemID = String(firstID + 500_000 + Int64(place))
    bought.expiresDate = date + every
    bought.originalPurchaseDate = first
    bought.reason = place == 0 ? .purchase : .renewal
    return bought
  }

  private func moment(of place: Int, before end: Timestamp) -> Timestamp {
    end - .milliseconds(every.milliseconds * Int64(purchases - place))
  }

  /// The notification of one purchase, counted from 0.
  ///
  /// The last is bought `every` before `end`, and each so long after the one before it.
  func notification(_ place: Int, before end: Timestamp, signedBy signer: PayloadSigner) throws -> SignedNotification {
    let bought = purchase(place, before: end)
    let signed = bought.purchaseDate + .seconds(1)
    var subject = NotificationSubject(transaction: bought.payload(signedAt: signed))
    if shape == .periods {
      subject.renewal = SimulatedRenewal(after: bought).payload(signedAt: signed)
      subject.status = 1
    }
    let type = shape == .linked ? "ONE_TIME_CHARGE" : place == 0 ? "SUBSCRIBED" : "DID_RENEW"
    let draft = NotificationDraft(
      type, shape == .periods && place == 0 ? "INITIAL_BUY" : nil, of: NotificationSamples.app, at: signed,
      uuid: "large-\(number)-\(place)", .data(subject))
    return try draft.signed(by: signer)
  }

  /// The newest purchases, as many as a receipt may have of them.
  func newest(_ count: Int, before end: Timestamp) -> [SimulatedTransaction] {
    (max(0, purchases - count)..<purchases).map { purchase($0, before: end) }
  }

  /// Has the ledger take in every purchase but the last `untold`, 64 in a commit.
  func store(
    in ledger: LedgerStore, of app: App, before end: Timestamp, untold: Int, reading adapter: MessageDecoder,
    signedBy signer: PayloadSigner
  ) async throws {
    for first in stride(from: 0, to: purchases - untold, by: 64) {
      let entries = try (first..<min(first + 64, purchases - untold)).map { place in
        let body = try notification(place, before: end, signedBy: signer).body
        let message = InboxMessage(kind: .notification, body: body, receivedAt: end)
        let reading = try adapter.notification(body, message: message.digest, now: end)
        return LedgerEntry(
          message,
          .accepted(
            LedgerEntry.AcceptedMessage(
              app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)),
          proof: .proven)
      }
      guard try await ledger.append(entries).allSatisfy({ $0 == .stored }) else {
        throw BenchmarkError("a notification was not stored")
      }
    }
  }
}

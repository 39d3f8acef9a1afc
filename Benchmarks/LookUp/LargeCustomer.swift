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

  private static let coins = Product(.consumable, id: "coins.100", price: 990)
  private static let lite = Product.subscription("lite.daily", group: "21000001", every: .days(1), price: 990)

  /// A number that no other customer of the benchmark has.
  private var number: Int64 { Int64(purchases) * 10 + (shape == .linked ? 1 : 2) }
  private var firstID: Int64 { 2_000_000_000_000_000 + number * 1_000_000 }

  /// The id by which the customer is looked up: of the first purchase.
  var id: String { String(firstID) }

  /// The notification of one purchase, counted from 0.
  ///
  /// The last is bought ten minutes before `end`, and each ten minutes after the one before it.
  func notification(_ place: Int, before end: Milliseconds, signedBy signer: PayloadSigner) throws -> SignedNotification
  {
    let date = end - .minutes(10 * Int64(purchases - place))
    var ids = IdentifierSource(environment: .sandbox, seed: 1, life: 0)
    let buyer = Customer(
      name: "Large", storefront: .unitedStates, appTransactionID: String(700_000_000_000_000_000 + number),
      appAccountToken: "7e3f2a5c-0000-4000-8000-\(String(1_000_000_000_000 + number).dropFirst())")
    let product = shape == .linked ? Self.coins : Self.lite
    var bought = SimulatedTransaction(of: product, by: buyer, in: NotificationSamples.app, at: date, ids: &ids)
    bought.transactionID = String(firstID + Int64(place))
    bought.originalTransactionID = shape == .linked ? bought.transactionID : id
    let signed = date + .seconds(1)
    var subject = NotificationSubject(transaction: bought.payload(signedAt: signed))
    if shape == .periods {
      bought.webOrderLineItemID = String(firstID + 500_000 + Int64(place))
      bought.expiresDate = date + .minutes(10)
      bought.originalPurchaseDate = end - .minutes(10 * Int64(purchases))
      bought.reason = place == 0 ? .purchase : .renewal
      subject.transaction = bought.payload(signedAt: signed)
      subject.renewal = SimulatedRenewal(after: bought).payload(signedAt: signed)
      subject.status = 1
    }
    let type = shape == .linked ? "ONE_TIME_CHARGE" : place == 0 ? "SUBSCRIBED" : "DID_RENEW"
    let draft = NotificationDraft(
      type, shape == .periods && place == 0 ? "INITIAL_BUY" : nil, of: NotificationSamples.app, at: signed,
      uuid: "large-\(number)-\(place)", .data(subject))
    return try draft.signed(by: signer)
  }

  /// Has the ledger take in every purchase but the last `untold`, 64 in a commit.
  func store(
    in ledger: Ledger, of app: App, before end: Milliseconds, untold: Int, reading adapter: Adapter,
    signedBy signer: PayloadSigner
  ) async throws {
    for first in stride(from: 0, to: purchases - untold, by: 64) {
      let entries = try (first..<min(first + 64, purchases - untold)).map { place in
        let body = try notification(place, before: end, signedBy: signer).body
        let message = InboxMessage(kind: .notification, body: body, receivedAt: end)
        let reading = try adapter.notification(body, message: message.digest, now: end)
        return Entry(
          message,
          .accepted(
            Entry.Acceptance(
              message, app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)),
          proof: .proven)
      }
      guard try await ledger.append(entries).allSatisfy({ $0 == .stored }) else {
        throw BenchmarkError("a notification was not stored")
      }
    }
  }
}

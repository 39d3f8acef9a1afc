package import JSON
package import Signing
package import Simulator
import Support
package import Time

/// The lives of a world's customers in everything a back end may meet: notifications of both generations, answers of
/// verifyReceipt in both shapes, receipts, signed payloads and bare ids.
package struct MixedStory: Sendable {
  /// By which door something comes.
  package enum Door: Sendable {
    case notification
    /// An answer of verifyReceipt that we asked for ourselves.
    case answer
    /// Handed in by the app's back end.
    case evidence
  }

  package struct Message: Sendable {
    package let door: Door
    package let body: [UInt8]
    package let receivedAt: Timestamp

    package init(door: Door, body: [UInt8], receivedAt: Timestamp) {
      self.door = door
      self.body = body
      self.receivedAt = receivedAt
    }
  }

  /// What is told of the world.
  package enum Generations: Sendable {
    case v1, v2, both
  }

  package static let app = "com.example.notes"

  package let pki: ApplePKI
  package let receiptPKI: ReceiptPKI
  package let world: AppStoreWorld
  package let messages: [Message]
  /// The purchases whose refund Apple took back, and their subscriptions, as `TruthComparison` names them: V1 has no word
  /// for it.
  package let reversedRefunds: Set<String>

  /// - Parameter start: when the world begins; it ends `days` later.
  package init(
    customers: Int, days: Int64, seed: UInt64, telling generations: Generations, start: Timestamp
  ) throws {
    let pki = try ApplePKI.generate(at: start)
    let receiptPKI = ReceiptPKI.known(at: start)
    let signer = try PayloadSigner(pki)
    var world = Self.world(customers: customers, seed: seed, start: start)
    var messages: [Message] = []
    var reversedRefunds: Set<String> = []
    let steps: Int64 = 4
    for step in 1...steps {
      world.advance(to: start + .days(days * step / steps))
      for (number, notification) in world.drainNotifications().enumerated() {
        if notification.happening.kind == .refundReversed, let transaction = notification.transaction {
          let original = transaction.originalTransactionID
          reversedRefunds.formUnion([
            "purchase \(original)/\(transaction.webOrderLineItemID ?? "")", "subscription \(original)",
          ])
        }
        if generations != .v1, let draft = notification.v2 {
          messages.append(
            Message(
              door: .notification, body: try draft.signed(by: signer).body, receivedAt: notification.due))
        }
        guard generations != .v2 else { continue }
        for told in notification.v1 {
          // Some come with the last of Apple's retries.
          let late = number.isMultiple(of: 5) ? Interval.hours(78) : .seconds(0)
          messages.append(
            Message(
              door: .notification, body: try told.body(signedBy: receiptPKI), receivedAt: notification.due + late))
        }
      }
      for customer in world.customers() {
        // Everybody in the end; before it some, so that what was handed in becomes old.
        guard step == steps || (customer.household + Int(step)).isMultiple(of: 3) else { continue }
        let state = world.state(of: customer)
        if generations != .v2 { messages += try Self.legacyEvidence(of: state, receiptPKI, isLast: step == steps) }
        if generations != .v1 { messages += try Self.signedEvidence(of: state, signer) }
      }
    }
    // The last is told within minutes.
    world.advance(by: .minutes(10))
    for notification in world.drainNotifications() where generations != .v1 {
      guard let draft = notification.v2 else { continue }
      messages.append(
        Message(door: .notification, body: try draft.signed(by: signer).body, receivedAt: notification.due))
    }
    (self.pki, self.receiptPKI, self.world, self.messages) = (pki, receiptPKI, world, messages)
    self.reversedRefunds = reversedRefunds
  }

  /// Customers to whom everything happens, and an App Store that sends every type to their Sandbox.
  package static func world(
    customers: Int, seed: UInt64, start: Timestamp, environment: AppStoreEnvironment = .sandbox
  ) -> AppStoreWorld {
    var app = AppPlan.sample(Self.app, environment: environment)
    app.customers = customers
    app.arrival = .days(30)
    app.habits = .lively
    app.era.sandboxSendsEverything = true
    app.priceChanges = [
      AppPlan.PriceChange(of: "plus.monthly", at: start + .days(70), to: 6_990, needsConsent: true),
      AppPlan.PriceChange(of: "pro.monthly", at: start + .days(90), to: 10_990, needsConsent: false),
    ]
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: start)
  }

  /// - Parameter isLast: whether to hand in ids too: the same body again says nothing, and an earlier date.
  private static func legacyEvidence(
    of state: CustomerState, _ pki: ReceiptPKI, isLast: Bool
  ) throws -> [Message] {
    // An empty receipt tells of nobody.
    guard let sold = state.legacyPurchases.last else { return [] }
    func message(_ door: Door, _ body: [UInt8]) -> Message {
      Message(door: door, body: body, receivedAt: state.date)
    }
    let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: state.date)
    let receipt = try SimulatedTransactionReceipt(sold).encoded(signedBy: pki.transactionSigner)
    let flat = try TransactionReceiptAnswer(about: sold, of: state).object(signedBy: pki.transactionSigner)
    let id: JSONObject = ["transactionId": .string(sold.transactionID), "userId": .string("user \(state.id)")]
    return [
      message(.answer, try answer.object(signedBy: pki).encoded()),
      message(.evidence, try state.receipt.encoded(signedBy: pki)), message(.answer, flat.encoded()),
      message(.evidence, receipt),
    ] + (isLast ? [message(.evidence, id.encoded())] : [])
  }

  private static func signedEvidence(of state: CustomerState, _ signer: PayloadSigner) throws -> [Message] {
    var messages: [Message] = []
    if let last = state.purchases.last {
      let jws = try signer.sign(last.transaction.payload(signedAt: state.date))
      messages.append(Message(door: .evidence, body: jws, receivedAt: state.date))
    }
    let download = try signer.sign(state.appTransaction.payload(signedAt: state.date))
    messages.append(Message(door: .evidence, body: download, receivedAt: state.date))
    return messages
  }

  /// What is true at the end; `v1Only`: of it what V1 alone can tell.
  package func truth(v1Only: Bool = false) -> [JSONObject] { Array(world.truth(v1Only: v1Only)) }
}

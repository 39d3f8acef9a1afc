package import JSON
package import LegacyAnswers
import Purchases
package import Receipts
package import Signing
package import Simulator
import Support
package import Time

/// A request about a simulated customer: what we know, and what the simulated App Store answers.
package struct SimulatedCase: Sendable {
  /// What makes a customer a case of their own.
  package enum Situation: String, Sendable, CaseIterable {
    case plain, restored, refunded, upgraded, shared, grace, retry, ended, revoked, cancelled, trial, paidIntroduction,
      promotional, offerCode, priceAsked, consumable, excludeOld, olderReceipt, transactionReceipt, production
  }

  package let request: ComposerRequest
  package let facts: CustomerFacts
  /// The simulator's answer.
  package let answer: JSONObject
  package let situations: Set<Situation>
  /// Lines, else originalTransactionIds, of rows whose ids a restore changed since: V2 does not know them.
  package let restored: Set<String>
  /// originalTransactionIds of consumables that came or were used up since the receipt: V2 does not know which are.
  package let consumables: Set<String>
}

/// Customers of a simulated App Store, and requests about them at dates of their lives.
package struct SimulatedCases: Sendable {
  package static let start = Timestamp(1_767_600_000_000)
  package static let pki = ReceiptPKI.known(at: start)
  package static let reader: ReceiptReader = {
    do { return ReceiptReader(trust: ReceiptTrust(exactly: [try pki.trustedRoot()])) } catch {
      preconditionFailure("no reader: \(error)")
    }
  }()

  private let world: AppStoreWorld
  private let environment: Environment
  private let seed: UInt64

  /// A year of customers to whom everything happens.
  package init(customers: Int, in environment: AppStoreEnvironment, seed: UInt64) {
    var world = Self.world(customers: customers, in: environment, seed: seed)
    world.advance(by: .days(365))
    _ = world.drainNotifications()
    self.init(world, in: environment, seed: seed)
  }

  /// Cases of the world's customers, up to its present.
  package init(_ world: AppStoreWorld, in environment: AppStoreEnvironment, seed: UInt64) {
    self.world = world
    self.environment = environment == .production ? .production : .sandbox
    self.seed = seed
  }

  /// A world at its beginning, in which everything happens often enough to be seen among a hundred customers in a year.
  package static func world(customers: Int, in environment: AppStoreEnvironment, seed: UInt64) -> AppStoreWorld {
    var app = AppPlan.sample("com.example.notes", environment: environment)
    app.customers = customers
    app.habits = .lively
    app.habits.restores = 150
    app.habits.usesStoreKit1 = 700
    app.habits.paymentFails = 120
    app.habits.asksForRefund = 150
    app.habits.redeemsOffer = 150
    app.habits.downgrades = 60
    app.priceChanges = [
      AppPlan.PriceChange(of: "plus.monthly", at: start + .days(150), to: 6_990, needsConsent: true),
      AppPlan.PriceChange(of: "lite.weekly", at: start + .days(100), to: 1_990, needsConsent: true),
      AppPlan.PriceChange(of: "news.monthly", at: start + .days(120), to: 3_990, needsConsent: true),
      AppPlan.PriceChange(of: "pro.monthly", at: start + .days(200), to: 10_990, needsConsent: false),
    ]
    // A paid introduction beside the free trials of the sample.
    for place in app.products.indices where app.products[place].id == "lite.weekly" {
      app.products[place].offers.append(Offer(.introductory, .payAsYouGo, for: .weeks(1), price: 490))
    }
    // Each product has offers of its own, so that their identifiers differ.
    for product in app.products.indices {
      for offer in app.products[product].offers.indices {
        if let name = app.products[product].offers[offer].identifier {
          app.products[product].offers[offer].identifier = "\(name).\(product)"
        }
      }
    }
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: start)
  }

  /// Calls `use` with each case: two dates for each customer, each with an app receipt and, where there is a purchase,
  /// an iOS 6 receipt.
  package func forEach(_ use: (SimulatedCase) throws -> Void) throws {
    for (number, customer) in world.customers().enumerated() {
      var random = SplitMix64(seed: seed, part: number)
      for _ in 0..<2 {
        let date =
          Self.start + .days(Int64(random.number(in: 20..<365))) + .seconds(Int64(random.number(in: 0..<86_400)))
        for sample in try cases(of: customer, at: date, &random) { try use(sample) }
      }
    }
  }

  /// The cases of a customer at a date that is not after the world's present: an app receipt and, where there is a
  /// purchase, an iOS 6 receipt.
  package func cases(
    of customer: CustomerID, at date: Timestamp, _ random: inout SplitMix64
  ) throws -> [SimulatedCase] {
    let state = world.state(of: customer, at: date)
    let age = random.chance(50) ? 0 : Int64(random.number(in: 1..<40 * 86_400))
    let then = world.state(of: customer, at: date - .seconds(age))
    var cases = [try appCase(state, then, at: date, excludesOld: random.chance(30), isOlder: age > 0)]
    let sold = then.legacyPurchases
    if !sold.isEmpty { cases.append(try transactionCase(sold[random.number(in: 0..<sold.count)], state, at: date)) }
    return cases
  }

  // MARK: Cases

  private func appCase(
    _ state: CustomerState, _ then: CustomerState, at date: Timestamp, excludesOld: Bool, isOlder: Bool
  ) throws -> SimulatedCase {
    let receipt = then.receipt
    let requestedAt = date + .milliseconds(402)
    let judge = Simulator.SimulatedVerifyReceiptResponse(
      about: receipt, of: state, requestedAt: requestedAt, excludingOldTransactions: excludesOld)
    let data = try receipt.encoded(signedBy: Self.pki)
    guard case .verified(let read) = Self.reader.read(data) else { throw Unreadable() }
    let text = String(decoding: data, as: UTF8.self)
    let request = ComposerRequest(
      receipt: read.receipt, receiptData: text, environment: environment, date: requestedAt,
      excludesOldTransactions: excludesOld)
    var situations = situations(of: state, at: date)
    if excludesOld { situations.insert(.excludeOld) }
    if isOlder { situations.insert(.olderReceipt) }
    let posted = Dictionary(then.purchases.map { ($0.transaction.transactionID, $0.legacyTransactionID) }) { first, _ in
      first
    }
    let restored = state.purchases.filter {
      $0.legacyTransactionID != posted[$0.transaction.transactionID] ?? $0.transaction.transactionID
    }
    return SimulatedCase(
      request: request, facts: facts(of: state, at: date), answer: judge.object(latestReceipt: data),
      situations: situations, restored: Set(restored.map(Self.key)), consumables: consumables(of: state, then))
  }

  private func transactionCase(
    _ sold: SimulatedReceipt.Purchase, _ state: CustomerState, at date: Timestamp
  ) throws -> SimulatedCase {
    let answer = try TransactionReceiptAnswer(about: sold, of: state).object(signedBy: Self.pki.transactionSigner)
    // What Apple answers as `receipt` is what it signed.
    let pairs = (answer["receipt"]?.object ?? JSONObject()).compactMap { member in
      member.value.string.map { "\t\"\(member.key.replacing("_", with: "-"))\" = \"\($0)\";\n" }
    }
    let data = try SimulatedTransactionReceipt(sold).encoded(
      signedBy: Self.pki.transactionSigner, info: Array("{\n\(pairs.joined())}".utf8))
    guard case .verified(let read) = Self.reader.read(data) else { throw Unreadable() }
    let request = ComposerRequest(
      receipt: read.receipt, receiptData: String(decoding: data, as: UTF8.self), environment: environment, date: date)
    var situations = situations(of: state, at: date)
    situations.insert(.transactionReceipt)
    let restored = state.purchases.filter { $0.legacyTransactionID != $0.transaction.transactionID }
    return SimulatedCase(
      request: request, facts: facts(of: state, at: date), answer: answer, situations: situations,
      restored: Set(restored.map(Self.key)), consumables: [])
  }

  struct Unreadable: Error {}

  private static func key(_ purchase: WorldPurchase) -> String {
    purchase.transaction.webOrderLineItemID ?? purchase.transaction.originalTransactionID
  }

  private func consumables(of state: CustomerState, _ then: CustomerState) -> Set<String> {
    func shown(_ state: CustomerState) -> Set<String> {
      Set(
        state.legacyPurchases.filter { $0.transaction.product.kind == .consumable }
          .map(\.transaction.originalTransactionID))
    }
    return shown(state).symmetricDifference(shown(then))
  }

  /// What a ledger knows that has everything that Apple signed.
  ///
  /// The simulator's dates are whole seconds; Apple's V2 has milliseconds, which V1 never shows.
  private func facts(of state: CustomerState, at date: Timestamp) -> CustomerFacts {
    CustomerFacts(
      transactions: state.purchases.map {
        CustomerFacts.Transaction(Facts(stated: Self.finer($0.transaction.payload(signedAt: nil))))
      },
      renewals: state.subscriptions.map {
        CustomerFacts.Renewal(
          Facts(stated: Self.finer($0.renewal.payload(signedAt: nil))), statedAt: date + .seconds(1),
          wasAskedToConsent: $0.isConsentAsked)
      })
  }

  private static func finer(_ payload: JSONObject) -> JSONObject {
    JSONObject(
      payload.map { member in
        guard member.key.hasSuffix("Date"), let date = member.value.integer else { return (member.key, member.value) }
        return (member.key, .integer(date + 137))
      })
  }

  private func situations(of state: CustomerState, at date: Timestamp) -> Set<SimulatedCase.Situation> {
    var found: Set<SimulatedCase.Situation> = environment == .production ? [.production] : []
    for purchase in state.purchases {
      let transaction = purchase.transaction
      if purchase.legacyTransactionID != transaction.transactionID { found.insert(.restored) }
      if let revocation = transaction.revocation {
        found.insert(revocation.kind == .familyRevoke ? .revoked : .refunded)
      }
      if transaction.isUpgraded { found.insert(.upgraded) }
      if transaction.ownership == .familyShared { found.insert(.shared) }
      if transaction.product.kind == .consumable { found.insert(.consumable) }
      switch transaction.offer?.kind {
      case .introductory: found.insert(transaction.offer?.discount == .freeTrial ? .trial : .paidIntroduction)
      case .promotional: found.insert(.promotional)
      case .offerCode: found.insert(.offerCode)
      case .winBack, nil: break
      }
    }
    for subscription in state.subscriptions {
      switch subscription.status {
      case 2: found.insert(.ended)
      case 3: found.insert(.retry)
      case 4: found.insert(.grace)
      case 5: found.insert(.revoked)
      default: if !subscription.renewal.willRenew { found.insert(.cancelled) }
      }
      if subscription.isConsentAsked { found.insert(.priceAsked) }
    }
    if found.subtracting([.production]).isEmpty { found.insert(.plain) }
    return found
  }
}

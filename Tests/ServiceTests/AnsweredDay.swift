/// A day of an App Store whose verifyReceipt is off, and from noon on its App Store Server API too.
///
/// Of what happens the service is told most things at once, some late, some never. Old clients ask all the time: with the
/// receipt of today, with one of weeks ago, and with one of iOS 6.
struct AnsweredDay {
  private let service: AnsweringService
  private let signer: PayloadSigner
  private var told: ToldNotifications
  private var random: SplitMix64
  private var late: [(date: Timestamp, body: [UInt8])] = []
  /// What came late or never, of each household.
  private var untold: [Int: [(kind: WorldEvent.Kind, arrives: Timestamp?)]] = [:]
  private let noon: Timestamp

  /// Answers by their status and who gave them, with Apple's API and without.
  private(set) var answers: [String: Int] = [:]
  private(set) var asked = 0
  /// Requests about somebody who has access.
  private(set) var askedWithAccess = 0
  /// Answers of 21005.
  private(set) var postponed = 0
  /// Somebody who has access was answered as if it had ended.
  private(set) var deprived: [String] = []
  /// The same, where news of a return was not heard and the receipt is older than it: nothing here tells of it.
  private(set) var unheardReturns: [String] = []
  /// What the simulator's own answer does not tell either: the test would be wrong.
  private(set) var unreadable: [String] = []
  private(set) var happenings: [String: Int] = [:]
  /// Subscriptions by their status when the day begins.
  private(set) var begun: [String: Int] = [:]
  private(set) var fates: [String: Int] = [:]
  /// Requests with receipts that name nobody.
  private(set) var nameless = 0

  init(_ service: AnsweringService, of world: AppStoreWorld) throws {
    self.service = service
    signer = try PayloadSigner(service.running.store.identity.chains.pki)
    told = ToldNotifications(world)
    random = SplitMix64(seed: world.seed ^ 0x6461_79)
    noon = world.now + .hours(12)
  }

  /// Customers of Production whose periods last for days, so that much happens in one.
  static func world(customers: Int, seed: UInt64) -> AppStoreWorld {
    var app = AppPlan.sample(MixedStory.app, environment: .production)
    app.customers = customers
    app.arrival = .days(15)
    app.habits = .lively
    app.habits.subscribes = 1_000
    app.habits.paymentFails = 120
    app.habits.comesBack = 600
    for place in app.products.indices where app.products[place].period != nil {
      app.products[place].period = .days([1, 1, 2][place % 3])
    }
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: seed, start: AnsweringService.start)
    world.advance(by: .days(20))
    _ = world.drainNotifications()
    return world
  }

  /// - Parameter steps: how often in the day everybody is asked about.
  mutating func pass(steps: Int64) async throws {
    try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
    let (midnight, customers) = (told.world.now, Array(told.world.customers()))
    // Known from before.
    _ = try await service.each(customers) { [self] in try await answer(to: try service.receipt(of: $0)) }
    for subscription in customers.flatMap({ told.world.state(of: $0).subscriptions }) {
      begun["status \(subscription.status)", default: 0] += 1
    }
    for step in 1...steps {
      let now = midnight + .milliseconds(24 * 3_600_000 * step / steps)
      try await service.advance(to: now, clock: now)
      try await tell(until: now)
      if now >= noon, now - .milliseconds(24 * 3_600_000 / steps) < noon {
        try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      }
      let answered = try await service.each(Array(customers.enumerated())) { [self] number, customer in
        try await ask(about: customer, Receipts.allCases[(number + Int(step)) % 3], at: now)
      }
      for one in answered { note(one, at: now) }
    }
  }

  // MARK: What is told

  private mutating func tell(until now: Timestamp) async throws {
    for notification in told.take(until: now) {
      guard let body = try notification.v2?.signed(by: signer).body else { continue }
      let (kind, household) = (notification.happening.kind, notification.customer.household)
      happenings["\(kind)", default: 0] += 1
      switch random.number(in: 0..<10) {
      case 0:
        fates["lost", default: 0] += 1
        untold[household, default: []].append((kind, nil))
      case 1, 2:
        fates["late", default: 0] += 1
        let date = now + .minutes(Int64(random.number(in: 30..<480)))
        untold[household, default: []].append((kind, date))
        late.append((date, body))
      default:
        fates["at once", default: 0] += 1
        try await send(body)
      }
    }
    for message in late where message.date <= now { try await send(message.body) }
    late.removeAll { $0.date <= now }
  }

  private func send(_ body: [UInt8]) async throws {
    let answer = try await service.post(body, to: service.base + "/notifications")
    guard answer.status == 200 else { throw Refused(answer: "\(answer)") }
  }

  struct Refused: Error { let answer: String }

  // MARK: What is answered

  private func answer(to receipt: String) async throws -> AnsweringService.Answer {
    try await service.ask(AnsweringService.request(receipt), path: "/verifyReceipt", token: service.token)
  }

  private struct Asked: Sendable {
    let customer: CustomerID
    let kind: Receipts
    /// The subscriptions by which they have access, as far as the receipt tells of them.
    let truth: Set<String>
    /// Whether the simulator's own answer tells so.
    let isTold: Bool
    /// Nil: the receipt names nobody.
    let answer: AnsweringService.Answer?
  }

  private enum Receipts: String, CaseIterable, Sendable {
    case ofNow = "of now"
    case ofBefore = "of before"
    case ofIOS6 = "of iOS 6"
  }

  private func ask(about customer: CustomerID, _ kind: Receipts, at now: Timestamp) async throws -> Asked {
    let state = told.world.state(of: customer, at: now)
    // Of who turned renewal off while in grace V1 tells no grace.
    let running = state.subscriptions.filter { $0.status == 1 || $0.status == 4 && $0.legacyRenewal != nil }
    var truth = Set(running.map(\.originalTransactionID))
    let receipt: String
    let theirs: JSONObject
    switch kind {
    case .ofNow, .ofBefore:
      let then = kind == .ofNow ? state : told.world.state(of: customer, at: now - .days(7))
      let judge = SimulatedVerifyReceiptResponse(about: then.receipt, of: state, requestedAt: now)
      (receipt, theirs) = (try service.signed(then.receipt), judge.object(latestReceipt: []))
      guard !then.legacyPurchases.isEmpty else {
        return Asked(customer: customer, kind: kind, truth: [], isTold: true, answer: nil)
      }
    case .ofIOS6:
      guard let purchase = state.legacyPurchases.last(where: { $0.transaction.product.kind == .autoRenewable }) else {
        return Asked(customer: customer, kind: kind, truth: [], isTold: true, answer: nil)
      }
      receipt = try service.transactionReceipt(of: purchase, customer)
      let original = purchase.transaction.originalTransactionID
      // Apple calls a subscription in grace ended there.
      let paid = state.subscriptions.filter { $0.status == 1 && $0.originalTransactionID == original }
      truth = Set(paid.map(\.originalTransactionID))
      theirs = try TransactionReceiptAnswer(about: purchase, of: state).object(
        signedBy: SimulatedCases.pki.transactionSigner)
    }
    return Asked(
      customer: customer, kind: kind, truth: truth,
      isTold: truth.isSubset(of: NaiveClient.running(in: theirs, at: now)), answer: try await answer(to: receipt))
  }

  private mutating func note(_ one: Asked, at now: Timestamp) {
    guard let ours = one.answer else { return nameless += 1 }
    let phase = now >= noon ? "without API" : "with API"
    let name =
      "\(one.customer), receipt \(one.kind.rawValue), \(phase), \((now - noon).milliseconds / 3_600_000 + 12) h"
    if !one.isTold { unreadable.append(name) }
    asked += 1
    if !one.truth.isEmpty { askedWithAccess += 1 }
    answers["\(phase), \(ours.code ?? -1) by \(ours.source ?? "nobody")", default: 0] += 1
    if ours.code == 21_005 { return postponed += 1 }
    let missing = one.truth.subtracting(NaiveClient.running(in: ours.body, at: now))
    guard !missing.isEmpty else { return }
    let unheard = (untold[one.customer.household] ?? []).filter { $0.arrives.map { $0 > now } ?? true }.map(\.kind)
    let line = "\(name), \(ours.code ?? -1) by \(ours.source ?? "nobody"), \(missing.sorted()), unheard: \(unheard)"
    if one.kind == .ofBefore, !Self.returns.isDisjoint(with: unheard) {
      unheardReturns.append(line)
    } else {
      deprived.append(line)
    }
  }

  /// What gives somebody access again of whom the last word was that it had ended, or a longer one than was told.
  private static let returns: Set<WorldEvent.Kind> = [
    .subscribed, .resubscribed, .recovered, .offerRedeemed, .refundReversed, .extended,
  ]
}

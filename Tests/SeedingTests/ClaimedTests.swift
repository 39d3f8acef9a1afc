@Suite struct `Look-ups because of claims` {
  @Test func `ask each endpoint once for a claimed change, and nothing for what is known`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 8)) { bench in
      try await bench.arrive(bench.customers)
      try await bench.finish(bench.worker())
      let (pages, statuses) = (bench.calls[.getTransactionHistory, 200], bench.calls[.getAllSubscriptionStatuses, 200])
      try await bench.advance(by: .days(40))
      let ids = bench.customers.map { $0[0] }
      for _ in 0..<3 { try await bench.claim(ids, number: 1) }
      bench.clock.advance(by: .seconds(1))
      try await bench.finish(bench.worker())
      // A customer of whom more than 20 transactions are new takes a page for each 20.
      #expect(bench.calls[.getTransactionHistory, 200] - pages == ids.count)
      #expect(bench.calls[.getAllSubscriptionStatuses, 200] - statuses == ids.count)
      #expect(try await bench.known() == bench.truth)
      bench.clock.advance(by: .minutes(5))
      #expect(try await bench.finish(bench.worker()) == ids.count, "Apple does not show what was claimed: once more")
      try await bench.claim(ids, number: 1)
      bench.clock.advance(by: .minutes(5))
      #expect(try await bench.finish(bench.worker()) == 0)
    }
  }

  @Test func `are asked in no other environment than the message names`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 1)) { bench in
      try await bench.claim(["999000111"], number: 1)
      bench.clock.advance(by: .seconds(2))
      #expect(try await bench.finish(bench.worker()) == 1)
      #expect(bench.calls[.getTransactionHistory, 404] == 1)
      #expect(try await bench.counts() == ["unknown": 1])
    }
  }

  @Test func `wait for as long as Apple does not answer, and are then answered`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 2)) { bench in
      try await bench.arrive(bench.customers)
      try await bench.finish(bench.worker())
      try await bench.advance(by: .days(40))
      try await bench.fault(["fault": "serverError", "on": "api", "times": .null])
      let ids = bench.customers.map { $0[0] }
      try await bench.claim(ids, number: 1)
      for _ in 0..<48 {
        bench.clock.advance(by: .minutes(30))
        _ = try await bench.worker().round()
      }
      let open = try await bench.openLookUps(of: ids)
      #expect(open.count == ids.count && open.values.allSatisfy { $0.failure?.contains("serverFailed") == true })
      try await bench.mend()
      for _ in 0..<4 {
        bench.clock.advance(by: .minutes(30))
        _ = try await bench.worker().round()
      }
      #expect(try await bench.openLookUps(of: ids).isEmpty)
      #expect(try await bench.known() == bench.truth)
    }
  }

  @Test func `find a renewal of which nobody told, when the period ends`() async throws {
    try await SeedingBench.with(Self.renewingWorld) { bench in
      try await bench.arrive(bench.customers)
      try await bench.finish(bench.worker())
      let pages = bench.calls[.getTransactionHistory, 200]
      #expect(try await bench.finish(bench.worker()) == 0)
      // Two months without a notification: day by day nobody who pays is unknown.
      for _ in 0..<60 {
        try await bench.advance(by: .days(1))
        try await bench.finish(bench.worker())
        let (known, now) = (try await bench.entitled(), bench.clock.clock.now())
        #expect(known.isSuperset(of: bench.renewing(at: now)), "\(now.iso8601)")
      }
      // A call for each end of a period, not one a day.
      let asked = bench.calls[.getTransactionHistory, 200] - pages
      #expect(asked > 0 && asked < 12 * 2 * 4, "\(asked)")
    }
  }

  /// Customers of whom nothing surprising is untold: no refund is reversed, and nobody changes their mind twice.
  private static var renewingWorld: AppStoreWorld {
    var plan = AppPlan.sample(SeedingBench.bundleID)
    plan.customers = 12
    plan.arrival = .days(20)
    plan.habits = .lively
    plan.habits.refundIsReversed = 0
    plan.habits.turnsAutoRenewOnAgain = 0
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 7, start: SeedingBench.start)
    world.advance(to: SeedingBench.start + .days(200))
    return world
  }

  /// Everybody who has the old app can make claims.
  @Test func `take a quarter of Apple's budget, and of no seed's, however many are forged`() async throws {
    try await SeedingBench.with(SeedingBench.world(customers: 0)) { bench in
      let time = VirtualTime(bench.clock) { bench.pool.figures.inUse > 0 || bench.http.underWay > 0 }
      try await time.run {
        let timing = CallTimeSource(clock: time.clock, sleep: { try await time.sleep($0) }, jitter: { 0.5 })
        let client = bench.client(timing) { _ in RateBounds(start: 20, most: 20) }
        let seeding = bench.seeding(
          client, TimeSource(elapsed: { .milliseconds(0) }, sleep: { try await time.sleep($0) }, random: { $0 / 2 }),
          concurrency: 64)
        try await bench.claim((0..<600).map { "8\(1_000_000 + $0)" }, number: 1)
        try await bench.arrive((0..<600).map { ["7\(1_000_000 + $0)"] })
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await seeding.run() }
          try await time.sleep(.seconds(5))
          let before = try await bench.unknown()
          let begun = time.clock.now()
          let states = try await seeding.lookUp(["6000001"], of: bench.app, in: .sandbox, within: .seconds(30))
          #expect(states?.values.first == .unknown)
          #expect(time.clock.now() - begun < .seconds(2), "whoever waits does not wait for claims")
          try await time.sleep(begun + .seconds(20) - time.clock.now())
          let after = try await bench.unknown()
          let (seeds, claims) = (after.seeds - before.seeds, after.claims - before.claims)
          // An unknown seed takes a call in each environment, and each environment has its own budget.
          #expect(seeds >= 267, "\(seeds) seeds of 300, \(claims) claims")
          #expect((80...106).contains(claims), "\(claims) claims of 100")
          group.cancelAll()
          try await group.waitForAll()
        }
      }
    }
  }
}

extension SeedingBench {
  /// The world and the clock go on together.
  fileprivate func advance(by interval: Interval) async throws {
    clock.advance(by: interval)
    let response = try await http.send(
      ClientRequest(
        method: "POST", url: "\(running.controlURL)/advance",
        body: (["milliseconds": .integer(interval.milliseconds)] as JSONObject).encoded(), deadline: .minutes(1)))
    if response.status != 200 { throw Unexpected(what: "\(response.status) for time to go on") }
  }

  fileprivate func mend() async throws {
    _ = try await http.send(ClientRequest(method: "DELETE", url: running.controlURL + "/faults"))
  }

  /// Has V1 report a period of each of these subscriptions that nobody has heard of.
  fileprivate func claim(_ ids: [String], number: Int64) async throws {
    let now = clock.clock.now()
    let entries = ids.map { id -> LedgerEntry in
      var findings = Findings(app: app.bundleID, environment: .sandbox)
      let key = PurchaseKey(
        app: app.bundleID, environment: .sandbox, originalTransactionID: id, line: Line(text: "900\(number)"))
      var facts = Facts<PurchaseField>()
      facts.set(.type, "Auto-Renewable Subscription")
      facts.set(.purchaseDate, .integer(SeedingBench.start.sinceEpoch))
      facts.set(.expiresDate, .integer(SeedingBench.start.sinceEpoch + number))
      let message = InboxMessage(
        kind: .notification, body: Array("claim \(id) \(number) \(now)".utf8), receivedAt: now)
      findings.purchases = [
        PurchaseStatement(
          key: key, source: .notificationV1, rank: Rank(asOf: now, tieBreak: Array(message.digest.bytes.prefix(16))),
          facts: facts, message: message.digest.bytes)
      ]
      findings.seeds = [TransactionReference(app: app.bundleID, environment: .sandbox, transactionID: id)]
      return LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "V1")))
    }
    _ = try await LedgerStore(pool: pool).append(entries)
  }

  fileprivate func openLookUps(of ids: [String]) async throws -> [String: PendingLookup] {
    var open: [String: PendingLookup] = [:]
    for id in ids {
      for dossier in try await LedgerStore(pool: pool).dossiers(of: id, app: app, extent: .customers) {
        open.merge(dossier.lookUps) { first, _ in first }
      }
    }
    return open
  }

  /// How many ids Apple said that it does not know.
  fileprivate func unknown() async throws -> (seeds: Int, claims: Int) {
    let counts = try await pool.read { session throws(DatabaseError) in try HistoryJobTable.counts(of: app, in: session)
    }
    let unknown = counts.filter { $0.state == .unknown }
    return (
      unknown.filter { !$0.kind.isClaimed }.reduce(0) { $0 + $1.count },
      unknown.filter(\.kind.isClaimed).reduce(0) { $0 + $1.count }
    )
  }

  /// The subscriptions to which the ledger grants access now.
  fileprivate func entitled() async throws -> Set<String> {
    let now = clock.clock.now()
    var entitled: Set<String> = []
    for id in customers.compactMap(\.first) {
      for dossier in try await LedgerStore(pool: pool).dossiers(of: id, app: app, extent: .customers) {
        let purchases = Purchase.fold(dossier.purchases, rules: Vocabulary.embedded.purchases.rules)
        for key in Set(purchases.map(\.key.subscription)) {
          let renewal = Resolved(
            dossier.renewals.filter { $0.key == key }, rules: Vocabulary.embedded.renewals.rules)
          let subscription = Subscription(key: key, purchases: purchases, renewal: renewal)
          if let subscription, dossier.accessDecision(of: subscription, at: now).grantsAccess {
            entitled.insert(key.originalTransactionID)
          }
        }
      }
    }
    return entitled
  }

  /// The subscriptions that run by renewals alone, charged before the period's end: nothing else was expected.
  fileprivate func renewing(at now: Timestamp) -> Set<String> {
    let world = running.world
    var renewing: Set<String> = []
    for customer in world.customers(of: Self.bundleID) {
      let state = world.state(of: customer)
      for subscription in state.subscriptions where subscription.status == 1 {
        let periods = state.purchases.filter {
          $0.transaction.originalTransactionID == subscription.originalTransactionID
            && $0.madeAt > Self.start + .days(200)
        }
        if periods.allSatisfy({ $0.transaction.reason == .renewal && $0.madeAt < $0.transaction.purchaseDate }) {
          renewing.insert(subscription.originalTransactionID)
        }
      }
    }
    return renewing
  }
}

@Suite struct `A world` {
  private static func told(_ world: inout AppStoreWorld, by interval: Interval, until end: Interval)
    -> [NotificationDraft]
  {
    var told: [NotificationDraft] = []
    while world.now < Bench.start + end {
      world.advance(to: min(world.now + interval, Bench.start + end))
      told += world.drainNotifications().compactMap(\.v2)
    }
    return told
  }

  @Test func `tells the same whatever the steps in which its time passes`() {
    var (days, year) = (LifelikeWorld.make(customers: 40), LifelikeWorld.make(customers: 40))
    let inDays = Self.told(&days, by: .hours(31), until: .days(365))
    let atOnce = Self.told(&year, by: .days(365), until: .days(365))
    #expect(inDays.count > 300)
    #expect(inDays == atOnce)
    #expect(Array(days.truth()) == Array(year.truth()))
  }

  @Test func `tells the same of households that live alone`() {
    let (world, told) = LifelikeWorld.year(customers: 60)
    let population = Population(
      plan: WorldPlan(apps: [LifelikeWorld.plan(customers: 60)]), seed: 7, start: Bench.start)
    let lives = (0..<population.count).reversed().map { number in
      var life = population.life(number)
      life.advance(to: world.now)
      return life
    }
    #expect(lives.reversed().flatMap(\.states).flatMap(\.truth) == Array(world.truth()))
    #expect(Set(lives.flatMap { $0.notifications.compactMap(\.v2) }) == Set(told.compactMap(\.v2)))
    #expect(lives.reduce(0) { $0 + $1.notifications.count } == told.count)
  }

  @Test func `tells something else for another seed`() {
    #expect(LifelikeWorld.year(customers: 3).told.map(\.v2) != LifelikeWorld.year(customers: 3, seed: 8).told.map(\.v2))
  }

  @Test func `lets everything happen in a year`() {
    let (world, _) = LifelikeWorld.year(customers: 400)
    let kinds = Set(world.customers().flatMap { world.log(of: $0).map(\.kind) })
    // Grace is on, and nothing but acts sets tokens.
    #expect(Set(WorldEvent.Kind.allCases).subtracting(kinds) == [.accountTokenSet, .paymentFailed])
  }

  @Test func `repeats no id, and finds everybody by any of theirs`() throws {
    let (world, told) = LifelikeWorld.year(customers: 120)
    var ids: [String] = []
    for customer in world.customers() {
      let state = world.state(of: customer)
      for purchase in state.purchases {
        ids += [purchase.transaction.transactionID, purchase.transaction.webOrderLineItemID].compactMap { $0 }
        ids += purchase.restoredTransactionIDs
        for id in [purchase.transaction.transactionID, purchase.legacyTransactionID] {
          #expect(
            world.customer(ofAnyTransactionID: id, app: state.app.bundleID, environment: .sandbox) == customer)
        }
        let order = world.order(purchase.orderID, app: state.app.bundleID, environment: .sandbox)
        #expect(order?.purchase == purchase && order?.customer == customer)
      }
      ids.append(state.customer.appTransactionID)
      let found = world.customer(
        ofAnyTransactionID: state.customer.appTransactionID, app: state.app.bundleID, environment: .sandbox)
      #expect(found == customer)
    }
    #expect(Set(ids).count == ids.count)
    #expect(Set(told.compactMap { $0.v2?.notificationUUID }).count == told.count)
    #expect(ids.allSatisfy { $0.hasPrefix("2") && $0.count == 16 || $0.hasPrefix("7") && $0.count == 18 })
  }

  @Test(arguments: ["0", "", "abc", "-5", "99999999999999999999", "100000000000001", "2000000000000000"])
  func `knows no id that it did not give out`(id: String) {
    let (world, _) = LifelikeWorld.year(customers: 5)
    #expect(world.customer(ofAnyTransactionID: id, app: "com.example.notes", environment: .sandbox) == nil)
    #expect(world.order(id, app: "com.example.notes", environment: .sandbox) == nil)
  }

  @Test func `keeps apps and environments apart`() throws {
    var app = AppPlan.sample("com.example.one", environment: .production)
    app.customers = 3
    app.testers = 2
    app.habits = .lively
    let other = AppPlan.sample("com.example.two", appAppleID: 1_600_000_001)
    var world = AppStoreWorld(plan: WorldPlan(apps: [app, other]), seed: 3, start: Bench.start)
    let customer = try world.enrol(in: "com.example.one", environment: .production)
    let id = try #require(try world.act(.buy(product: "archive"), on: customer).first)
    #expect(world.customer(ofAnyTransactionID: id, app: "com.example.one", environment: .production) == customer)
    #expect(world.customer(ofAnyTransactionID: id, app: "com.example.one", environment: .sandbox) == nil)
    #expect(world.customer(ofAnyTransactionID: id, app: "com.example.two", environment: .production) == nil)
    #expect(id.count == 15)
    #expect(world.customerCount == 6)
    #expect(world.customers(of: "com.example.two").map(\.self) == [])
    #expect(Set(world.customers().map { world.state(of: $0).app.environment }) == [.production, .sandbox])
    #expect(throws: AppStoreWorld.EnrolmentError.unknownApp) {
      try world.enrol(in: "com.example.three", environment: .sandbox)
    }
  }

  @Test func `tells what the adapter understands to the last field`() throws {
    let signer = try PayloadSigner(Bench.pki)
    let adapter = try Bench.adapter()
    for notification in LifelikeWorld.year(customers: 12).told {
      let draft = try #require(notification.v2)
      let reading = try adapter.read(draft.signed(by: signer).body)
      #expect(reading.survey.isClean, "\(draft.title): \(reading.survey)")
      let statement = try #require(reading.findings.purchases.first)
      #expect(statement.facts.text(.transactionId) == notification.transaction?.transactionID)
      #expect(statement.facts.date(.expiresDate) == notification.transaction?.expiresDate)
      #expect(reading.findings.renewals.isEmpty == (draft.subject?.renewal == nil))
      #expect(!reading.findings.events.isEmpty)
    }
  }

  @Test func `tells of what was true when it happened, in order, and never before it is due`() throws {
    var world = LifelikeWorld.make(customers: 30)
    var last = Timestamp(0)
    while world.now < Bench.start + .days(120) {
      world.advance(by: .hours(17))
      for notification in world.drainNotifications() {
        #expect(
          notification.due <= world.now && last <= notification.due && notification.happening.date < notification.due)
        last = notification.due
        // What was told later is not told yet.
        let state = notification.state
        #expect(state.purchases.allSatisfy { $0.modifiedAt <= notification.happening.date })
      }
    }
    #expect(world.nextEvent.map { world.now < $0 } ?? false)
  }

  @Test(arguments: [(WorldClock.Pace.real, Int64(5_000)), (.accelerated(60), 300_000)])
  func `may follow the machine's clock`(pace: WorldClock.Pace, passed: Int64) {
    let clock = WorldClock(pace, from: Bench.start, at: Timestamp(77))
    #expect(clock.worldTime(at: Timestamp(5_077)) == Bench.start + .milliseconds(passed))
    #expect(WorldClock(.stepped, from: Bench.start, at: Timestamp(77)).worldTime(at: Timestamp(99)) == nil)
  }

  @Test func `signs everything beforehand when asked to`() async throws {
    let (world, _) = LifelikeWorld.year(customers: 8)
    let customers = Array(world.customers())
    let signed = try await world.signedTransactions(of: customers, by: PayloadSigner(Bench.pki))
    let purchases = customers.flatMap { world.transactions(of: $0) }
    #expect(signed.count == purchases.count)
    let first = try #require(purchases.first?.transaction)
    let jws = try #require(signed[first.transactionID])
    let expected = Base64.url.encode(first.payload(signedAt: world.now).encoded())
    #expect(jws.split(separator: UInt8(ascii: ".")).dropFirst().first.map(Array.init) == expected)
  }

  @Test func `does not go back`() {
    var world = LifelikeWorld.make(customers: 1)
    world.advance(by: .days(3))
    world.advance(to: Bench.start)
    #expect(world.now == Bench.start + .days(3))
  }
}

import Rollout

/// An app of which V1 alone tells, for forty days: old clients hear what Apple would tell them.
@Suite struct `An app on V1` {
  /// What a client reads off an answer.
  private struct Reading: Equatable {
    let status: Int64?
    let latestExpiry: Int64?
    var cancellations: Set<String> = []
    var autoRenewStatus: [String: String] = [:]

    init(_ answer: JSONObject) {
      status = answer["status"]?.integer
      let rows = (answer["latest_receipt_info"]?.array ?? []).compactMap(\.object)
      latestExpiry = rows.compactMap { $0["expires_date_ms"]?.string.flatMap { Int64($0) } }.max()
      for row in rows {
        if let date = row["cancellation_date_ms"]?.string {
          cancellations.insert("\(row["transaction_id"]?.string ?? "") \(date)")
        }
      }
      for renewal in (answer["pending_renewal_info"]?.array ?? []).compactMap(\.object) {
        autoRenewStatus[renewal["original_transaction_id"]?.string ?? ""] = renewal["auto_renew_status"]?.string
      }
    }
  }

  private static func world(seed: UInt64) -> AppStoreWorld {
    var plan = AppPlan.sample(KeptUp.app, environment: .production)
    plan.customers = 60
    plan.arrival = .days(40)
    plan.habits = .lively
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: seed, start: KeptUp.start)
    world.advance(by: .days(60))
    return world
  }

  /// Lets forty days pass in steps and asks about every receipt after each; what was told wrongly, and by whom.
  private static func fortyDays(
    ahead: Int64, losing percent: Int64 = 0, seed: UInt64 = 5
  ) async throws -> (wrong: [String], sources: [String: Int]) {
    let result = Mutex<(wrong: [String], sources: [String: Int])>(([], [:]))
    let world = world(seed: seed)
    try await KeptUp.with(world, in: .production, ahead: .days(ahead)) { kept in
      let place = try await kept.place()
      let now = kept.serviceClock.now()
      let flags = try await kept.pool.read { session throws(DatabaseError) in try StageTable.all(in: session) }
      let flag = try #require(flags[place.scope])
      _ = try await kept.pool.transaction { session throws(DatabaseError) in
        // Beside other tests the guard would take an app back since its answers are slow.
        var rule = GuardRule()
        (rule.mostErrors, rule.mostLatency) = (0, 0)
        try GuardTable.set(rule, of: place.scope, at: Timestamp(1), in: session)
        return try StageTable.advance(place.scope, from: flag, to: .live, at: now, in: session)
      }
      // As they are on the devices, and were migrated.
      let pki = kept.running.store.identity.receiptPKI
      let receipts = try world.customers().map { world.state(of: $0) }.filter { !$0.legacyPurchases.isEmpty }.map {
        try $0.receipt.encoded(signedBy: pki)
      }
      try await kept.handIn(receipts)
      try await Self.settle(kept)
      kept.send(.v1)
      if percent > 0 {
        try await kept.control(
          "faults", ["fault": "dropped", "on": "notifications", "percent": .integer(percent), "times": .null])
      }
      for _ in 0..<10 {
        try await kept.advance(.days(4))
        try await Self.settle(kept)
        try await Self.reconcile(kept)
        try await Self.settle(kept)
        for (number, receipt) in receipts.enumerated() {
          let (ours, source) = try await kept.verifyReceipt(receipt)
          let apples = Reading(try await kept.verifyReceipt(receipt, at: kept.running.productionURL).body)
          let isRight = Reading(ours) == apples
          result.withLock { result in
            result.sources[source ?? "", default: 0] += 1
            if !isRight {
              result.wrong.append(
                "\(kept.clock.clock.now().iso8601) \(number) \(source ?? ""): \(Reading(ours)), not \(apples)")
            }
          }
        }
      }
    }
    return result.withLock { $0 }
  }

  /// Waits until nobody is to be asked about any more; passes the time until the next look-up is due.
  private static func settle(_ kept: KeptUp) async throws {
    let isDone = try await eventually(within: .seconds(60)) {
      guard let next = try await kept.nextLookUp() else { return true }
      // The budget is renewed as time passes.
      try await kept.advance(max(next - kept.serviceClock.now(), .milliseconds(50)))
      return false
    }
    try #require(isDone, "Apple is still to be asked")
  }

  /// Compares while time passes, by which the service's budget is renewed.
  private static func reconcile(_ kept: KeptUp) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Task.isCancelled {
          kept.clock.advance(by: .milliseconds(50))
          try? await Task.sleep(for: .milliseconds(10))
        }
      }
      _ = try await kept.reconcile()
      group.cancelAll()
    }
  }

  @Test(arguments: [0, 3, 20]) func `is answered by the ledger, whatever the service's clock says`(
    daysAhead: Int64
  ) async throws {
    let (wrong, sources) = try await Self.fortyDays(ahead: daysAhead)
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
    let all = sources.values.reduce(0, +)
    #expect(sources["ledger", default: 0] * 100 >= all * 95, "\(sources)")
  }

  @Test func `is answered rightly although one message in ten is lost`() async throws {
    let (wrong, sources) = try await Self.fortyDays(ahead: 0, losing: 10)
    #expect(wrong.isEmpty, "\(wrong.count) of \(sources): \(wrong.prefix(5))")
  }
}

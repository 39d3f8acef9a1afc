/// An app on V1 whose messages are lost for a month.
@Suite struct `A sweep for refunds` {
  @Test func `finds every refund of which no message came, and asks about each customer once a week`()
    async throws
  {
    var plan = AppPlan.sample(KeptUp.app, environment: .production)
    plan.customers = 60
    plan.arrival = .days(30)
    plan.habits = .busy
    plan.habits.asksForRefund = 300
    // V1 has no word for it.
    plan.habits.refundIsReversed = 0
    var world = AppStoreWorld(plan: WorldPlan(apps: [plan]), seed: 5, start: KeptUp.start)
    world.advance(by: .days(1))
    try await KeptUp.with(world, in: .production, isAsking: false) { kept in
      kept.send(.v1)
      try await kept.advance(.days(40))
      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "times": .null])
      try await kept.advance(.days(30))
      let before = try await Self.revocations(kept)
      #expect(before.true.count - before.known.count >= 3, "\(before)")
      #expect(try await kept.sweepRefunds() > 20)
      let after = try await Self.revocations(kept)
      #expect(after.known == after.true)
      // Whom Apple's answers have linked meanwhile is another customer, once; all others have no turn for a week.
      #expect(try await kept.sweepRefunds() < 20)
      #expect(try await kept.sweepRefunds() == 0)
      try await kept.advance(.days(8))
      #expect(try await kept.sweepRefunds() > 20)
      // Nobody's purchases are younger than 120 days, as far as is known.
      try await kept.advance(.days(200))
      #expect(try await kept.sweepRefunds() == 0)
    }
  }

  /// The refunded purchases that the ledger knows of, and those of the world among them.
  private static func revocations(_ kept: KeptUp) async throws -> (known: [String: Int64], true: [String: Int64]) {
    let purchases = try await KnownPurchases(of: KeptUp.app, in: .production, kept.pool).purchases
    var known: [String: Int64] = [:]
    var lines: Set<String> = []
    for purchase in purchases {
      let line = purchase.key.originalTransactionID + "/" + purchase.key.line.text
      lines.insert(line)
      if let date = purchase.revocationDate { known[line] = date.wholeSeconds }
    }
    let world = kept.running.world
    var told: [String: Int64] = [:]
    for transaction in world.customers().flatMap({ world.transactions(of: $0) }).map(\.transaction) {
      let payload = transaction.payload(signedAt: world.now)
      let key = PurchaseKey(
        app: KeptUp.app, environment: .production, originalTransactionID: transaction.originalTransactionID,
        line: Line(
          webOrderLineItemID: transaction.webOrderLineItemID, purchaseDate: transaction.purchaseDate,
          isSubscription: transaction.product.kind == .autoRenewable))
      let line = key.originalTransactionID + "/" + key.line.text
      guard lines.contains(line), let date = payload["revocationDate"]?.integer else { continue }
      told[line] = Timestamp(date).wholeSeconds
    }
    return (known, told)
  }
}

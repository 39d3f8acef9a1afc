@Suite struct `A comparison with Apple` {
  private func world(customers: Int = 8) -> AppStoreWorld {
    MixedStory.world(customers: customers, seed: 7, start: KeptUp.start)
  }

  @Test func `takes in the notifications that never came, once, and measures each day`() async throws {
    try await KeptUp.with(world()) { kept in
      kept.send(.v2)
      try await kept.advance(.days(20))
      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "percent": 30, "times": .null])
      try await kept.advance(.days(60))
      let before = try await kept.rowCount("inbox")

      let tried = try await kept.reconcile { $0.isDry = true }
      #expect(tried.takenIn > 3)
      #expect(try await kept.rowCount("inbox") == before)
      #expect(try await kept.rowCount("completeness") == 0)

      let report = try await kept.reconcile()
      let sent = ReconciliationReport.sum(report.notifications)
      #expect(report.takenIn == tried.takenIn && report.isComplete)
      #expect(sent.expected == sent.arrived + sent.recovered && sent.missing == 0)
      #expect(sent.recovered == report.takenIn)
      #expect(try await kept.rowCount("inbox WHERE kind = 5") == report.takenIn)

      // Again: nothing is left to do, and what was missing is still told.
      let again = try await kept.reconcile()
      #expect(again.takenIn == 0 && again.lookedUp == 0)
      #expect(ReconciliationReport.sum(again.notifications) == sent)
      let rows = try await kept.pool.read { session throws(DatabaseError) in
        try CompletenessTable.read(from: Timestamp(0), in: session).filter { $0.measure == .notifications }
      }
      #expect(rows.reduce(0) { $0 + $1.completeness.recovered } == report.takenIn)
    }
  }

  @Test func `asks about subscriptions that should have renewed and of which nothing was heard`() async throws {
    // Nobody else asks: what was learned while the world went on would count as news of its end.
    try await KeptUp.with(world(), isAsking: false) { kept in
      kept.send(.v1)
      try await kept.advance(.days(40))
      // Apple sends, and nobody listens.
      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "times": .null])
      try await kept.advance(.days(50))
      let tried = try await kept.reconcile { $0.isDry = true }
      #expect(tried.lookedUp > 0 && tried.notifications.isEmpty)
      #expect(ReconciliationReport.sum(tried.renewals).missing > 0)
      let few = try await kept.reconcile { $0.lookUps = 1 }
      #expect(few.lookedUp == 1 && few.postponed > 0 && !few.isComplete)
      // Whoever waited as a seed was asked about meanwhile.
      let report = try await kept.reconcile()
      #expect(report.isComplete && report.unknownToApple == 0)
      #expect(ReconciliationReport.sum(report.renewals).missing == 0)
      #expect(try await kept.reconcile { $0.isDry = true }.lookedUp == 0)
    }
  }

  @Test func `counts only signed statements as news`() async throws {
    try await KeptUp.with(world(customers: 2), isAsking: false) { kept in
      let (app, day) = (try await kept.place().app, Interval.days(1).milliseconds)
      let now = kept.clock.clock.now()
      // A signed period that ended ten days ago, and the next as V1 told it when it began.
      func entry(_ source: Source, line: String, from start: Int64, asOf: Int64) -> LedgerEntry {
        var findings = Findings(app: KeptUp.app, environment: .sandbox)
        var facts = Facts<PurchaseField>()
        facts.set(.type, "Auto-Renewable Subscription")
        facts.set(.purchaseDate, .integer(now.sinceEpoch + start * day))
        facts.set(.expiresDate, .integer(now.sinceEpoch + (start + 30) * day))
        let message = InboxMessage(kind: .notification, body: Array(line.utf8), receivedAt: now)
        findings.purchases = [
          PurchaseStatement(
            key: PurchaseKey(
              app: KeptUp.app, environment: .sandbox, originalTransactionID: "77", line: Line(text: line)),
            source: source,
            rank: Rank(
              asOf: now + .milliseconds(asOf * day), tieBreak: [UInt8](repeating: 1, count: 16)),
            facts: facts, message: [UInt8](repeating: 1, count: 32))
        ]
        return LedgerEntry(
          message,
          .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "test")))
      }
      let ledger = LedgerStore(pool: kept.pool)
      _ = try await ledger.append([entry(.signedV2, line: "1", from: -40, asOf: -40)])
      _ = try await ledger.append([entry(.notificationV1, line: "2", from: -10, asOf: -10)])
      let report = try await kept.reconcile { $0.isDry = true }
      #expect(report.lookedUp == 1)
      let renewals = ReconciliationReport.sum(report.renewals)
      #expect(renewals.expected == 1 && renewals.missing == 1)
    }
  }

  @Test func `asks about ids that nothing signed names last, a few of them, as of any claim`() async throws {
    try await KeptUp.with(world(customers: 2), isAsking: false) { kept in
      let (app, now) = (try await kept.place().app, kept.clock.clock.now())
      func entry(_ source: Source, _ original: String) -> LedgerEntry {
        let message = InboxMessage(kind: .notification, body: Array(original.utf8), receivedAt: now)
        var facts = Facts<PurchaseField>()
        facts.set(.type, "Auto-Renewable Subscription")
        facts.set(.purchaseDate, .integer((now - .days(40)).sinceEpoch))
        facts.set(.expiresDate, .integer((now - .days(10)).sinceEpoch))
        var findings = Findings(app: KeptUp.app, environment: .sandbox)
        findings.purchases = [
          PurchaseStatement(
            key: PurchaseKey(
              app: KeptUp.app, environment: .sandbox, originalTransactionID: original, line: Line(text: original)),
            source: source,
            rank: Rank(asOf: now - .days(40), tieBreak: [UInt8](repeating: 1, count: 16)), facts: facts,
            message: [UInt8](repeating: 1, count: 32))
        ]
        return LedgerEntry(
          message,
          .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "test")))
      }
      let forged = (0..<40).map { entry(.notificationV1, "80\($0)") }
      _ = try await LedgerStore(pool: kept.pool).append(forged + [entry(.signedV2, "9077")])
      // Apple was asked about each of them, and it was forgotten since.
      try await kept.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("DELETE FROM work")
        _ = try session.execute("DELETE FROM claimed_changes")
      }
      let report = try await kept.reconcile { $0.lookUps = 20 }
      #expect(report.postponed == 38 && report.unknownToApple == 3)
      #expect(try await kept.rowCount("work WHERE kind = 1") == 1)
      #expect(try await kept.rowCount("work WHERE kind = 1 AND subject = '9077'") == 1)
      #expect(try await kept.rowCount("work WHERE kind = 3") == 2)
    }
  }

  @Test func `asks about what was claimed and never answered, and once`() async throws {
    try await KeptUp.with(world(), isAsking: false) { kept in
      kept.send(.v1)
      try await kept.advance(.days(60))
      // As a version left it that did not ask because of claims: V1 was stored, and Apple was asked about nobody.
      try await kept.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("DELETE FROM work")
        _ = try session.execute("DELETE FROM claimed_changes")
        // A receipt inside a body proves what it holds.
        _ = try session.execute("DELETE FROM purchases WHERE source = 20")
      }
      let report = try await kept.reconcile()
      #expect(report.lookedUp > 0 && report.unknownToApple == 0)
      #expect(try await kept.reconcile { $0.isDry = true }.lookedUp == 0)
    }
  }

  @Test func `ends in the truth, after V1, a switch in the middle, and every fault`() async throws {
    try await KeptUp.with(world(customers: 10), isAsking: false) { kept in
      let faults: [JSONObject] = [
        "dropped", "duplicated", "delayed", "reordered", "unknownFields", "unknownType", "badSignature",
        "foreignChain", "newChain",
      ].map { ["fault": $0, "on": "notifications", "percent": 3, "times": .null] }
      kept.send(.v1)
      for fault in faults { try await kept.control("faults", fault) }
      for _ in 0..<6 { try await kept.advance(.days(20)) }
      kept.send(.v2)
      for _ in 0..<6 { try await kept.advance(.days(20)) }
      // What is under way arrives.
      try await kept.advance(.days(4))
      for fault in ["serverError", "truncated", "unknownFields"] {
        try await kept.control("faults", ["fault": .string(fault), "on": "api", "percent": 3, "times": .null])
      }
      try await kept.handInTransactions()
      _ = try await kept.reconcile { $0.quiet = .days(0) }
      let known = try await KnownPurchases(of: KeptUp.app, in: .sandbox, kept.pool)
      let compared = known.compared(with: Array(kept.running.world.truth()), at: kept.clock.clock.now())
      #expect(compared.differences == [])
      #expect(compared.compared > 30)
    }
  }
}

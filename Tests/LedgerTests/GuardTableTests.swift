@Suite struct `The rule of a guard` {
  private static let now = Timestamp(1_796_000_000_000)

  private func ledger(
    _ body: @escaping @Sendable (Session, AppScope) throws(DatabaseError) -> Void
  ) async throws {
    let connection = try await Connection.open(try await PrivateMariaDB.shared.database())
    try await connection.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.app", appAppleID: nil, at: Self.now, in: session)
      try body(session, AppScope(app: app.id, environment: .sandbox))
    }
    await connection.close()
  }

  @Test func `is kept, and an older binary leaves its newer thresholds as they are`() async throws {
    try await ledger { session, scope throws(DatabaseError) in
      #expect(try GuardTable.rule(of: scope, in: session) == GuardRule())
      // As a binary of schema 11 writes it, without a row before and over one.
      func setByOlder(_ impact: Int) throws(DatabaseError) {
        _ = try session.execute(
          """
          INSERT INTO guards (app, environment, most_impact, window_seconds, least_customers, changed_at)
          VALUES (\(scope.app.number), 2, \(impact), 60, 7, 1)
          ON DUPLICATE KEY UPDATE most_impact = VALUES(most_impact)
          """)
      }
      try setByOlder(500)
      var rule = GuardRule()
      (rule.mostImpact, rule.window, rule.leastCustomers) = (500, 60, 7)
      #expect(try GuardTable.rule(of: scope, in: session) == rule, "the columns' defaults are the rule's")
      (rule.mostErrors, rule.mostLatency, rule.leastCalls) = (0, 150, 50)
      try GuardTable.set(rule, of: scope, at: Self.now, in: session)
      try setByOlder(900)
      rule.mostImpact = 900
      #expect(try GuardTable.rule(of: scope, in: session) == rule)
    }
  }

  @Test func `looks at what was counted since the stage was set, and at answers that somebody got`() async throws {
    try await ledger { session, scope throws(DatabaseError) in
      let start = Timestamp(Self.now.sinceEpoch / 300_000 * 300_000)
      let changed = start + .minutes(1)
      let now = start + .minutes(4)
      func add(
        _ side: ResponseTimeStatistics.Side, _ time: Duration?, _ count: Int, stageSetAt: Timestamp?
      ) throws(DatabaseError) {
        try AnswerTimeTable.add(
          [.init(side, in: scope, took: time, at: now, stageSetAt: stageSetAt): count], in: session)
      }
      // Of the same five minutes, by a process that did not know of the change yet.
      try add(.ours, nil, 1_000, stageSetAt: nil)
      try add(.ours, .milliseconds(90), 300, stageSetAt: changed)
      try add(.ours, nil, 5, stageSetAt: changed)
      try add(.composed, nil, 1_000, stageSetAt: changed)
      try add(.apple, .milliseconds(20), 197, stageSetAt: changed)
      try add(.apple, nil, 3, stageSetAt: changed)
      let seen = try GuardStatistics.read(scope, by: GuardRule(), since: changed, at: now, in: session)
      #expect(seen.ours == GuardStatistics.Answers(calls: 305, errors: 5, slowest: 70), "the lower end of the step")
      #expect(seen.apple == GuardStatistics.Answers(calls: 200, errors: 3, slowest: nil), "3 of 200 are more than 1 %")
      // An earlier change of the stage: everything of the five minutes counts.
      let more = try GuardStatistics.read(scope, by: GuardRule(), since: start - .days(1), at: now, in: session)
      #expect(more.ours.calls == 1_305 && more.ours.errors == 1_005)
      let later = try GuardStatistics.read(
        scope, by: GuardRule(), since: changed, at: now + .hours(3), in: session)
      #expect(later == GuardStatistics(), "out of the window")
    }
  }
}

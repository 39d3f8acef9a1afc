@testable import Ledger

@Suite struct `Ids that a migration hands out` {
  private static let now = SignedStory.start
  private let customers = [["11", "12", "13"], ["21", "22", "23"], ["31", "32", "33"]]

  /// A job with the ids of three customers, which receipts link.
  private func job(_ fixture: LedgerFixture) async throws -> Int {
    let entries = customers.map { ids in
      var findings = Findings(app: SignedStory.app, environment: .sandbox)
      findings.links = ids.dropFirst().map {
        CustomerLink(
          app: SignedStory.app, environment: .sandbox, .originalTransactionID(ids[0]), .originalTransactionID($0))
      }
      let message = InboxMessage(kind: .evidence, body: Array("\(ids)".utf8), receivedAt: Self.now)
      return LedgerEntry(
        message,
        .accepted(LedgerEntry.AcceptedMessage(app: fixture.app.id, findings: findings, signedAt: nil, title: "receipt"))
      )
    }
    _ = try await fixture.ledger.append(entries)
    let (app, now, ids) = (fixture.app.id, Self.now, customers.flatMap { $0 })
    return try await fixture.pool.transaction { session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: now, in: session)
      let new = ids.map {
        MigrationIDTable.New(app: app, id: MigrationStep.ID(environment: .sandbox, id: $0), isActive: true)
      }
      _ = try MigrationIDTable.add(new, job: job, in: session)
      return job
    }
  }

  private func turn(
    _ job: Int, _ fixture: LedgerFixture, allowance: Int?, backlog: Int = 100
  ) async throws -> (turn: HistoryJobScheduler.Turn, asked: [String]) {
    let now = Self.now
    return try await fixture.pool.transaction { session throws(DatabaseError) in
      let turn = try HistoryJobScheduler(job: job, owner: [UInt8](repeating: 1, count: 16))
        .turn(backlog: backlog, allowance: allowance, until: now + .minutes(1), at: now, in: session)
      let asked = try session.query("SELECT id FROM migration_ids WHERE job = \(job) AND state = 1 ORDER BY id")
        .map { row throws(DatabaseError) in try row.text(0) }
      return (turn, asked)
    }
  }

  @Test func `are counted by the customers whom Apple is asked about, not one by one`() async throws {
    let fixture = try await LedgerFixture()
    let job = try await job(fixture)
    let (first, asked) = try await turn(job, fixture, allowance: 1)
    #expect(first.handedOut == 3 && first.calls == 1 && asked == customers[0])
    let (none, _) = try await turn(job, fixture, allowance: 0)
    #expect(none.handedOut == 0 && none.calls == 0)
    let (second, all) = try await turn(job, fixture, allowance: 5)
    #expect(second.handedOut == 6 && second.calls == 2 && all == Array(customers.joined()))
    await fixture.pool.close()
  }

  @Test func `need no call where the history is stored`() async throws {
    let fixture = try await LedgerFixture()
    let (job, scope) = (try await job(fixture), AppScope(app: fixture.app.id, environment: .sandbox))
    let history = StoredHistory(
      environment: .sandbox, originalTransactionIDs: Set(customers[0] + ["22"]), transactionIDs: [], revision: nil)
    let now = Self.now
    try await fixture.pool.transaction { session throws(DatabaseError) in
      try HistoryTable.note([history], in: scope, at: now, session)
    }
    let (first, asked) = try await turn(job, fixture, allowance: 1)
    #expect(first.calls == 1 && asked == customers[0] + customers[1])
    await fixture.pool.close()
  }

  @Test func `are as many as may wait where nobody counts`() async throws {
    let fixture = try await LedgerFixture()
    let job = try await job(fixture)
    let (first, asked) = try await turn(job, fixture, allowance: nil, backlog: 4)
    #expect(first.handedOut == 4 && first.calls == 0 && asked == ["11", "12", "13", "21"])
    let (second, _) = try await turn(job, fixture, allowance: 9, backlog: 4)
    #expect(second.handedOut == 0, "four are being asked about")
    await fixture.pool.close()
  }
}

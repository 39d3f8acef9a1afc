@testable import Ledger

@Suite struct `The seeds` {
  private static let start = SignedStory.start

  private struct Naming: Sendable {
    var id: String
    var environment: Environment?
    var after: Interval
    var user: String?
    var kind = InboxMessage.Kind.evidence
  }

  private func entry(_ namings: [Naming], for app: App) -> LedgerEntry {
    let first = namings[0]
    var findings = Findings(app: app.bundleID, environment: first.environment ?? .production)
    findings.seeds = namings.map {
      TransactionReference(app: app.bundleID, environment: $0.environment, transactionID: $0.id, userID: $0.user)
    }
    let message = InboxMessage(
      kind: first.kind, body: Array("\(namings)".utf8), receivedAt: Self.start + first.after)
    return LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "id")))
  }

  private func rows(_ fixture: LedgerFixture) async throws -> [SeedTable.Row] {
    try await fixture.pool.read { session throws(DatabaseError) in
      try SeedTable.read("ORDER BY environment, transaction_id", bundleIDs: [:], in: session)
    }
  }

  private static let namings: [[Naming]] = [
    [Naming(id: "1", environment: .production, after: .seconds(2), user: "late")],
    [Naming(id: "1", environment: .production, after: .seconds(1), user: "first", kind: .verifyReceiptAnswer)],
    [Naming(id: "1", environment: .production, after: .seconds(3), user: nil, kind: .notification)],
    [
      Naming(id: "1", environment: nil, after: .seconds(9), user: nil),
      Naming(id: "2", environment: .sandbox, after: .seconds(9), user: nil),
    ],
  ]

  @Test func `are kept once, as who was received first named them, whatever the order`() async throws {
    var random = SeededRandom()
    let seed = random.seed
    var dumps: [[String]] = []
    for round in 0..<3 {
      let fixture = try await LedgerFixture()
      var entries = Self.namings.map { entry($0, for: fixture.app) }
      if round > 0 { entries = (entries + entries).shuffled(using: &random) }
      for entry in entries { _ = try await fixture.ledger.append(round == 2 ? entries : [entry]) }
      let rows = try await rows(fixture)
      #expect(rows.map(\.seed.transactionID) == ["1", "1", "2"], "seed \(seed)")
      #expect(rows.map(\.seed.environment) == [nil, .production, .sandbox], "seed \(seed)")
      #expect(rows.map(\.seed.userID) == [nil, "first", nil], "seed \(seed)")
      #expect(rows.map(\.kind) == [.evidence, .verifyReceiptAnswer, .evidence], "seed \(seed)")
      #expect(rows[1].firstSeenAt == Self.start + .seconds(1))
      #expect(rows[1].message == entry(Self.namings[1], for: fixture.app).message.digest)
      dumps.append(try await fixture.dump())
      await fixture.pool.close()
    }
    #expect(dumps[0].count == 3 && dumps[0].last?.contains(#""seed":"2""#) == true)
    #expect(dumps.allSatisfy { $0 == dumps[0] }, "seed \(seed)")
  }

  @Test func `of one time are the smaller digest's`() async throws {
    let naming = { Naming(id: "1", environment: .production, after: .seconds(1), user: $0) }
    for order in [["a", "b", "c"], ["c", "b", "a"]] {
      let fixture = try await LedgerFixture()
      let entries = order.map { (user: $0, entry: entry([naming($0)], for: fixture.app)) }
      for (_, entry) in entries { _ = try await fixture.ledger.append([entry]) }
      let row = try #require(try await rows(fixture).first)
      let smallest = try #require(
        entries.min { $0.entry.message.digest.bytes.lexicographicallyPrecedes($1.entry.message.digest.bytes) })
      #expect(row.message == smallest.entry.message.digest && row.seed.userID == smallest.user)
      await fixture.pool.close()
    }
  }

  @Test func `are the same after a rebuild`() async throws {
    let fixture = try await LedgerFixture()
    let entries = Self.namings.map { entry($0, for: fixture.app) }
    _ = try await fixture.ledger.append(entries)
    let before = (rows: try await rows(fixture).map { "\($0)" }, dump: try await fixture.dump())
    try await fixture.pool.read { session throws(DatabaseError) in
      _ = try session.execute("DELETE FROM seeds WHERE environment = 2")
      _ = try session.execute("UPDATE seeds SET kind = 1, first_seen_at = 1")
    }
    let rebuild = Rebuild(fixture.configuration, .ofTests) { stored in
      let entry = try #require(entries.first { $0.message.digest == stored.message.digest })
      guard case .accepted(let acceptance) = entry.content else { return Findings(app: "", environment: .sandbox) }
      return acceptance.findings
    }
    _ = try await rebuild.run(now: Self.start + .days(1))
    #expect(try await rows(fixture).map { "\($0)" } == before.rows)
    #expect(try await fixture.dump() == before.dump)
    await fixture.pool.close()
  }
}

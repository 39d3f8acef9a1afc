@testable import Ledger

@Suite struct `A user id that arrives with an id alone` {
  private static let start = SignedStory.start

  private func purchase(
    _ original: String, transaction: String, in environment: Environment, app: App
  ) -> LedgerEntry {
    let message = InboxMessage(
      kind: .evidence, body: Array("\(original) \(transaction) \(environment)".utf8), receivedAt: Self.start)
    var facts = Facts<PurchaseField>()
    facts.set(.transactionId, .string(transaction))
    facts.set(.originalTransactionId, .string(original))
    var findings = Findings(app: app.bundleID, environment: environment)
    findings.purchases = [
      PurchaseStatement(
        key: PurchaseKey(
          app: app.bundleID, environment: environment, originalTransactionID: original, line: Line(text: transaction)),
        source: .signedV2, rank: Rank(asOf: Self.start, tieBreak: Array(repeating: 0, count: 16)), facts: facts,
        message: message.digest.bytes)
    ]
    return LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "transaction")))
  }

  private func naming(
    _ id: String, _ user: String, in environment: Environment? = nil, after: Interval = .seconds(1), app: App
  ) -> LedgerEntry {
    let message = InboxMessage(
      kind: .evidence, body: Array("\(id) \(user) \(after)".utf8), receivedAt: Self.start + after)
    var findings = Findings(app: app.bundleID, environment: environment ?? .production)
    findings.seeds = [
      TransactionReference(app: app.bundleID, environment: environment, transactionID: id, userID: user)
    ]
    findings.attribute(toUser: user, asOf: message.receivedAt, message: message.digest.bytes)
    return LedgerEntry(
      message, .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "id")))
  }

  private func attributed(_ fixture: LedgerFixture) async throws -> [String] {
    try await fixture.pool.read { session throws(DatabaseError) in
      try session.query(
        """
        SELECT environment, original_transaction_id, user_id FROM user_ids
        ORDER BY user_id, environment, original_transaction_id
        """
      ).map { row throws(DatabaseError) in
        let environment = try Environment(code: row.int("environment"))
        return "\(try row.text("user_id")) \(environment.rawValue) \(try row.text("original_transaction_id"))"
      }
    }
  }

  private func entries(_ app: App) -> [LedgerEntry] {
    [
      purchase("10", transaction: "11", in: .sandbox, app: app),
      purchase("20", transaction: "21", in: .sandbox, app: app),
      purchase("20", transaction: "21", in: .production, app: app),
      purchase("30", transaction: "31", in: .sandbox, app: app),
      naming("11", "ada", app: app), naming("10", "ada", after: .seconds(2), app: app),
      naming("21", "both", app: app), naming("21", "named", in: .production, app: app),
      naming("31", "elsewhere", in: .production, app: app), naming("99", "nobody", app: app),
    ]
  }

  private static let expected = [
    "ada Sandbox 10", "both Production 20", "both Sandbox 20", "named Production 20",
  ]

  @Test func `belongs to the purchase where it is known, in whatever order they arrive and after a rebuild`()
    async throws
  {
    var random = SeededRandom()
    let seed = random.seed
    var dumps: [[String]] = []
    for round in 0..<6 {
      let fixture = try await LedgerFixture()
      let entries = entries(fixture.app).shuffled(using: &random)
      if round.isMultiple(of: 2) {
        for entry in entries { _ = try await fixture.ledger.append([entry]) }
      } else {
        _ = try await fixture.ledger.append(entries)
      }
      #expect(try await attributed(fixture) == Self.expected, "seed \(seed)")
      try await fixture.expectUserIDs(Self.expected.count, "seed \(seed)")
      dumps.append(try await fixture.dump())
      if round == 0 {
        let rebuild = Rebuild(fixture.configuration, .ofTests) { stored in
          let entry = try #require(entries.first { $0.message.digest == stored.message.digest })
          guard case .accepted(let acceptance) = entry.content else { return Findings(app: "", environment: .sandbox) }
          return acceptance.findings
        }
        _ = try await rebuild.run(now: Self.start + .days(1))
        #expect(try await fixture.dump() == dumps[0], "seed \(seed)")
      }
      await fixture.pool.close()
    }
    #expect(dumps.allSatisfy { $0 == dumps[0] }, "seed \(seed)")
  }

  @Test func `is attributed also when it and the purchase are committed at the same moment`() async throws {
    let fixture = try await LedgerFixture()
    for round in 0..<40 {
      let purchase = purchase("\(round)0", transaction: "\(round)1", in: .sandbox, app: fixture.app)
      let naming = naming("\(round)1", "user\(round)", app: fixture.app)
      async let first = fixture.ledger.append([purchase])
      async let second = fixture.ledger.append([naming])
      #expect(try await first == [.stored])
      #expect(try await second == [.stored])
    }
    #expect(try await attributed(fixture).count == 40)
    await fixture.pool.close()
  }

  @Test func `is looked up in the environment that knows it, in both when both do, else first in Production`()
    async throws
  {
    let fixture = try await LedgerFixture()
    let (app, ledger) = (fixture.app, fixture.ledger)
    _ = try await ledger.append([
      purchase("10", transaction: "11", in: .sandbox, app: app),
      purchase("20", transaction: "21", in: .sandbox, app: app),
      purchase("20", transaction: "21", in: .production, app: app),
    ])
    _ = try await ledger.append(["11", "21", "99"].map { naming($0, "ada", app: app) })
    let work = try await fixture.pool.read { session throws(DatabaseError) in
      try session.query("SELECT environment, subject FROM work ORDER BY subject, environment").map {
        row throws(DatabaseError) in
        "\(try row.text("subject")) \(try Environment(code: row.int("environment")).rawValue)"
      }
    }
    #expect(work == ["11 Sandbox", "21 Production", "21 Sandbox", "99 Production"])
    await fixture.pool.close()
  }

  @Test func `is looked for by every commit at a cost that does not grow with how many wait`() async throws {
    let fixture = try await LedgerFixture()
    let scope = AppScope(app: fixture.app.id, environment: .sandbox)
    let ids = (0..<200).map { "\($0 * 37)" }
    for size in [10_000, 100_000] {
      let app = Int64(fixture.app.id.number)
      try await fixture.pool.transaction { session throws(DatabaseError) in
        _ = try session.execute(
          """
          INSERT IGNORE INTO waiting_user_ids (app, transaction_id, environment, user_id, first_as_of, last_as_of, message)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000),
          m (j) AS (SELECT 0 UNION ALL SELECT j + 1 FROM m WHERE j < \(size / 1_000 - 1))
          SELECT \(app), CONCAT('x', m.j * 1000 + n.i), 0, CONCAT('u', n.i), 1, 1, REPEAT('a', 32) FROM n, m
          """)
      }
      let read = try await RowsRead.during(fixture.pool) { session throws(DatabaseError) in
        _ = try session.query(PendingUserIDTable.waiting(ids, in: scope))
      }
      #expect(read.total <= 3 * ids.count, "\(size): \(read)")
    }
    await fixture.pool.close()
  }
}

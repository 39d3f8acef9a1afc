import Database
import Purchases
import Rollout
import Support
import Testing
import Time

@testable import Ledger

/// What the statements of an answer of verifyReceipt and of a ramp's decision read, at two sizes of the ledger: the same, by an
/// index each.
@Suite struct `An answer reads` {
  @Test func `by an index, and no more rows the more customers there are`() async throws {
    let grown = try await GrownLedger()
    var (first, few) = (0, [String: RowsRead]())
    for size in HotSizes.sizes {
      try await grown.grow(from: first, to: size)
      try await Self.nameHistories(in: grown, from: first)
      try await grown.count()
      first = size
      for (name, most, body) in Self.steps(of: grown, size) {
        // The first time opens the tables.
        _ = try await RowsRead.during(grown.pool, body)
        let read = try await RowsRead.during(grown.pool, body)
        #expect(read.total <= most, "\(name) with \(size) customers: \(read)")
        if let before = few[name] { #expect(read.total <= before.total + 16, "\(name): \(before), then \(read)") }
        few[name] = read
        var tables: Set<String> = []
        for plan in try await StatementPlan.during(grown.pool, body) {
          for access in plan.accesses
          where access.isScan && !Self.isSmall(access, in: plan) {
            Issue.record("\(name) with \(size) customers: \(access) of \(plan.statement)")
          }
          tables.formUnion(plan.accesses.map(\.table))
        }
        #expect(tables.isSuperset(of: Self.tables[name] ?? []), "\(name): \(tables)")
      }
    }
    await grown.pool.close()
  }

  @Test(arguments: BelievedStatistics.allCases)
  func `no more rows where the server's statistics are`(_ statistics: BelievedStatistics) async throws {
    let size = HotSizes.sizes[1]
    try await statistics.during(size, growing: { try await Self.nameHistories(in: $0, from: 0) }) {
      (grown: GrownLedger) in
      for (name, most, body) in Self.steps(of: grown, size) {
        _ = try await RowsRead.during(grown.pool, body)
        let read = try await RowsRead.during(grown.pool, body)
        #expect(read.total <= most, "\(name): \(read)")
      }
    }
  }

  @Test func `a large history once, however many of its ids are asked about`() async throws {
    let grown = try await GrownLedger()
    let (app, scope, size) = (grown.app, grown.scope, 400)
    try await grown.grow(to: size)
    try await grown.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute("UPDATE histories SET held_with = 'h', asked_at = \(GrownLedger.now)")
    }
    let ids = (0..<20).map { GrownLedger.original($0) }
    let asked = try await RowsRead.during(grown.pool) { session throws(DatabaseError) in
      let asked = try HistoryTable.asked(ids, since: GrownLedger.now, in: scope, session)
      guard asked == Set(ids) else { throw DatabaseError(.column, "\(asked)") }
    }
    #expect(asked.total <= 5 * ids.count, "\(asked)")
    let unasked = try await RowsRead.during(grown.pool) { session throws(DatabaseError) in
      let asked = try HistoryTable.asked(ids, since: GrownLedger.now + .milliseconds(1), in: scope, session)
      guard asked.isEmpty else { throw DatabaseError(.column, "\(asked)") }
    }
    // An entry of the index and its row for each of the history.
    #expect(unasked.total <= 2 * size + 5 * ids.count, "\(unasked)")
    let known = try await RowsRead.during(grown.pool) { session throws(DatabaseError) in
      let known = try Ledger.knowledge(of: ids, app: app, environment: .sandbox, in: session)
      guard known.originalTransactionIDs.count == size else { throw DatabaseError(.column, "too few") }
    }
    #expect(known.total <= 20 * size, "\(known)")
    await grown.pool.close()
  }

  private typealias Step = (name: String, most: Int, body: @Sendable (Session) throws(DatabaseError) -> Void)

  /// Each path, the most rows that it may read, and the path itself.
  private static func steps(of grown: GrownLedger, _ size: Int) -> [Step] {
    let (app, scope) = (grown.app, grown.scope)
    let ids = [GrownLedger.original(size - 9), GrownLedger.original(size - 8)]
    return [
      (
        "knowledge", 200,
        { session throws(DatabaseError) in
          let known = try Ledger.knowledge(
            of: ids, app: app, environment: .sandbox, atMost: 256, countsClaims: true, in: session)
          guard known.purchases.count == 6, known.renewals.count == 3, known.originalTransactionIDs.count == 3,
            known.histories.count == 3, known.answered.count == 1
          else { throw DatabaseError(.column, "\(known)") }
        }
      ),
      (
        "environments", 20,
        { session throws(DatabaseError) in
          let found = try Ledger.environments(naming: ids[0], app: app, atMost: 256, in: session)
          guard found == [.sandbox] else { throw DatabaseError(.column, "\(found)") }
        }
      ),
      (
        "flow of news", 20,
        { session throws(DatabaseError) in
          _ = try NewsFlow.read(scope, at: GrownLedger.now, in: session)
        }
      ),
      (
        "whether it was asked", 40,
        { session throws(DatabaseError) in
          // By themselves; by the third of their history alone; not at all.
          for (instant, most): (Int64, Int) in [(-1_000, 2), (1, 2), (2, 0)] {
            let asked = try HistoryTable.asked(ids, since: GrownLedger.now + .milliseconds(instant), in: scope, session)
            guard asked.count == most else { throw DatabaseError(.column, "\(instant): \(asked)") }
          }
        }
      ),
      (
        "a ramp's decision", 120,
        { session throws(DatabaseError) in
          try CohortTable.add([.init(.userID, "user \(size - 8)")], to: scope, at: GrownLedger.now, in: session)
          let bucket = try BucketTable.decide(
            ids, app: app, in: scope, salt: "salt", at: GrownLedger.now, session: session)
          guard bucket?.number == 1, try CohortTable.holds(ids, in: scope, session),
            try !CohortTable.holds([GrownLedger.original(size - 7)], in: scope, session)
          else { throw DatabaseError(.column, "no decision") }
        }
      ),
    ]
  }

  /// A row for each app, or the temporary table of a UNION or a subquery; MySQL shows the subquery's own name.
  private static func isSmall(_ access: StatementPlan.Access, in plan: StatementPlan) -> Bool {
    plan.statement.contains("FROM heartbeats h") || ["<union", "<derived"].contains(where: access.table.hasPrefix)
      || access.table == "j"
      || plan.statement.contains(") \(access.table) ")
  }

  /// What has to be seen in the plans: otherwise nothing was explained.
  private static let tables: [String: Set<String>] = [
    "knowledge": [
      "r", "h", "customers", "m", "histories", "w", "purchases", "renewals", "claimed_changes", "inbox", "events",
    ],
    "environments": ["purchases"], "flow of news": ["heard"], "whether it was asked": ["r", "h"],
    "a ramp's decision": ["buckets", "m", "ramp_cohorts", "a", "c"],
  ]

  /// Has three customers of every ten in one history, with an answer of Apple's and a price to agree to.
  private static func nameHistories(in grown: GrownLedger, from first: Int) async throws {
    let start = GrownLedger.original(first)
    try await grown.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        UPDATE histories SET held_with = IF(MOD(original_transaction_id, 10) IN (1, 2, 3),
          CONCAT('h', FLOOR(original_transaction_id / 10)), original_transaction_id),
          asked_at = IF(MOD(original_transaction_id, 10) = 3, \(GrownLedger.now) + 1, asked_at)
        WHERE original_transaction_id >= \(start)
        """)
      _ = try session.execute(
        """
        INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts, message,
          precedence)
        SELECT app, environment, original_transaction_id, line, \(Source.verifyReceiptAnswer.rawValue), product_id, as_of,
          facts, message, precedence
        FROM purchases WHERE source = 50 AND MOD(original_transaction_id, 10) = 1
          AND line = CONCAT(original_transaction_id, 0) AND original_transaction_id >= \(start)
        """)
      _ = try session.execute(
        """
        UPDATE purchases p JOIN inbox i ON i.digest = p.message
        SET i.kind = \(InboxMessage.Kind.verifyReceiptAnswer.rawValue)
        WHERE p.source = \(Source.verifyReceiptAnswer.rawValue)
        """)
      _ = try session.execute(
        """
        INSERT INTO buckets (app, environment, original_transaction_id, bucket, decided_at)
        SELECT app, environment, original_transaction_id, 1, asked_at FROM histories
        WHERE original_transaction_id >= \(start)
        """)
      _ = try session.execute(
        """
        INSERT INTO ramp_cohorts (app, environment, kind, member, added_at)
        SELECT app, environment, 1, CONCAT('9', original_transaction_id), asked_at FROM histories
        WHERE original_transaction_id >= \(start)
        """)
      // Nothing is to be asked: then whether something is claimed is looked at too.
      _ = try session.execute("UPDATE work SET is_again = 0 WHERE subject >= \(start)")
      _ = try session.execute(
        #"""
        UPDATE renewals SET facts = '{"priceIncreaseStatus":0}' WHERE original_transaction_id >= \#(start)
        """#)
    }
  }
}

@testable import Ledger

/// A ledger of customers in histories, of decisions and of a bulk migration, and the paths of verifyReceipt responses, of a
/// ramp and of the migration.
struct AnsweredLedger: FilledLedger {
  let grown: GrownLedger

  var largest: String { grown.largest }
  var pool: Pool { grown.pool }

  func grow(from first: Int, to size: Int) async throws {
    try await grown.grow(from: first, to: size)
    try await addJobs(from: first, to: size)
    try await nameHistories(from: first)
  }

  func run(_ paths: PlanCounter) async throws {
    for (name, most, body) in steps(paths.size) {
      // The first time opens the tables.
      _ = try await RowsRead.during(pool, body)
      try await paths.transaction(name, most: most, growth: { $0 + 16 }, body)
      var tables: Set<String> = []
      for plan in try await StatementPlan.during(pool, body) {
        for access in plan.accesses where access.isScan {
          #expect(Self.isSmall(access, in: plan), "\(name) at \(paths.size): \(access) of \(plan.statement)")
        }
        tables.formUnion(plan.accesses.map(\.table))
      }
      #expect(tables.isSuperset(of: Self.tables[name] ?? []), "\(name): \(tables)")
    }
    try await migrate(paths)
    if paths.size == PlanTests.sizes[1] { try await readLargeHistory(paths) }
  }

  /// A history of 400 customers is read once, regardless of how many of its IDs are asked for.
  private func readLargeHistory(_ paths: PlanCounter) async throws {
    let (app, scope, size) = (grown.app, grown.scope, 400)
    let ids = (0..<20).map(GrownLedger.original)
    try await pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        UPDATE histories SET held_with = 'h', asked_at = \(GrownLedger.now)
        WHERE original_transaction_id < \(GrownLedger.original(size))
        """)
    }
    try await paths.transaction("a large history that was asked for", most: 5 * ids.count) {
      session throws(DatabaseError) in
      #expect(try HistoryTable.asked(ids, since: GrownLedger.now, in: scope, session) == Set(ids))
    }
    // Two rows of the history for each customer.
    try await paths.transaction("a large history that was not asked for", most: 2 * size + 5 * ids.count) {
      session throws(DatabaseError) in
      #expect(try HistoryTable.asked(ids, since: GrownLedger.now + .milliseconds(1), in: scope, session).isEmpty)
    }
    try await paths.transaction("the knowledge of a large history", most: 20 * size) { session throws(DatabaseError) in
      let known = try LedgerStore.knowledge(of: ids, app: app, environment: .sandbox, in: session)
      #expect(known.originalTransactionIDs.count == size)
    }
  }

  private typealias Step = (name: String, most: Int, body: @Sendable (Session) throws(DatabaseError) -> Void)

  private func steps(_ size: Int) -> [Step] {
    let (app, scope) = (grown.app, grown.scope)
    let ids = [GrownLedger.original(size - 9), GrownLedger.original(size - 8)]
    return [
      (
        "knowledge", 200,
        { session throws(DatabaseError) in
          let known = try LedgerStore.knowledge(
            of: ids, app: app, environment: .sandbox, atMost: 256, countsClaims: true, in: session)
          guard known.purchases.count == 6, known.renewals.count == 3, known.originalTransactionIDs.count == 3,
            known.histories.count == 3, known.answered.count == 1
          else { throw DatabaseError(.column, "\(known)") }
        }
      ),
      (
        "environments", 20,
        { session throws(DatabaseError) in
          let found = try LedgerStore.environments(naming: ids[0], app: app, atMost: 256, in: session)
          guard found == [.sandbox] else { throw DatabaseError(.column, "\(found)") }
        }
      ),
      (
        "flow of news", 20,
        { session throws(DatabaseError) in
          _ = try NotificationHealth.read(scope, at: GrownLedger.now, in: session)
        }
      ),
      (
        "whether it was asked", 40,
        { session throws(DatabaseError) in
          // The IDs were asked for. Only the third ID of their history was. No ID was.
          for (instant, most): (Int64, Int) in [(-1_000, 2), (1, 2), (2, 0)] {
            let asked = try HistoryTable.asked(ids, since: GrownLedger.now + .milliseconds(instant), in: scope, session)
            guard asked.count == most else { throw DatabaseError(.column, "\(instant): \(asked)") }
          }
        }
      ),
      (
        "a ramp's decision", 120,
        { session throws(DatabaseError) in
          let bucket = try BucketTable.decide(
            ids, app: app, in: scope, salt: "salt", at: GrownLedger.now, session: session)
          guard bucket?.number == 1 else { throw DatabaseError(.column, "no decision") }
        }
      ),
    ]
  }

  /// Whether a table has a row for each app, or is the temporary table of a UNION or a subquery.
  ///
  /// MySQL shows the name of the subquery.
  private static func isSmall(_ access: StatementPlan.Access, in plan: StatementPlan) -> Bool {
    plan.statement.contains("FROM heartbeats h") || ["<union", "<derived"].contains(where: access.table.hasPrefix)
      || access.table == "j"
      || plan.statement.contains(") \(access.table) ")
  }

  /// The tables that the plans must name, since otherwise no statement was explained.
  private static let tables: [String: Set<String>] = [
    "knowledge": [
      "histories", "h", "customers", "m", "work", "purchases", "renewals", "claimed_changes", "inbox", "events",
    ],
    "environments": ["purchases"], "flow of news": ["heard"], "whether it was asked": ["histories"],
    "a ramp's decision": ["buckets", "m"],
  ]

  /// Puts three of every ten customers from `first` on into one history with a verifyReceipt response and a price consent.
  private func nameHistories(from first: Int) async throws {
    let start = GrownLedger.original(first)
    try await pool.transaction { session throws(DatabaseError) in
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
      // Without lookups that wait, a response also reads the claims.
      _ = try session.execute("UPDATE work SET is_again = 0 WHERE subject >= \(start)")
      _ = try session.execute(
        #"""
        UPDATE renewals SET facts = '{"priceIncreaseStatus":0}' WHERE original_transaction_id >= \#(start)
        """#)
    }
  }
}

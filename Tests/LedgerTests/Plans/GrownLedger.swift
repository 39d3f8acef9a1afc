@testable import Ledger

/// A ledger of many customers, written in bulk, and one connection whose statements can be counted.
///
/// Each customer has one subscription of two periods with its notifications, an account token, a user ID and a history.
/// Each customer also has an ID that waits for a lookup, a renewal check and a consumption request. One in ten customers
/// has a claimed change and a message in quarantine with a claim.
struct GrownLedger {
  static let now = SignedStory.start + .days(100)

  let largest = "purchases"
  let pool: Pool
  let ledger: LedgerStore
  let app: App

  var scope: AppScope { AppScope(app: app.id, environment: .sandbox) }

  init(on server: PrivateMariaDB = .shared) async throws {
    var settings = Pool.Settings()
    settings.size = 1
    pool = Pool(try await server.database(), settings: settings)
    ledger = LedgerStore(pool: pool)
    app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: SignedStory.start, in: session)
      return try AppTable.add(bundleID: SignedStory.app, appAppleID: nil, at: SignedStory.start, in: session)
    }
  }

  /// The originalTransactionId of a customer, with a first digit that no story uses.
  static func original(_ number: Int) -> String { "3\(100_000 + number)" }

  /// Adds the customers from `first` up to `size`.
  func grow(from first: Int, to size: Int) async throws {
    let (scope, now) = (scope, Self.now)
    try await pool.transaction { session throws(DatabaseError) in
      let place: SQL = "\(scope.app.number), \(scope.environment.code)"
      let original: SQL = "CONCAT('3', 100000 + n)"
      let (digest, rank): (SQL, SQL) = ("UNHEX(SHA2(CONCAT('grown ', n), 256))", "REPEAT(CHAR(1), 24)")
      let range: SQL = "FROM \(Backlog.numbers(first, size))"
      func insert(_ table: SQL, _ columns: SQL, _ values: SQL, _ rows: SQL = range) throws(DatabaseError) {
        _ = try session.execute(
          "INSERT INTO \(table) (app, environment, \(columns)) SELECT \(place), \(values) \(rows)")
      }
      try insert(
        "inbox", "digest, month, received_at, arrival, kind, signed_at, title, size",
        "\(digest), 202311, \(now), REPEAT('a', 16), 1, \(now), 'grown', 40")
      let facts: SQL = #"CONCAT('{"type":"Auto-Renewable Subscription","originalTransactionId":"', \#(original), '"}')"#
      for period in 0..<2 {
        try insert(
          "purchases", "original_transaction_id, line, source, product_id, as_of, facts, message, precedence",
          "\(original), CONCAT(\(original), \(period)), 50, 'monthly', \(now), \(facts), \(digest), \(rank)")
        for kind in [1, 2] {
          try insert(
            "aliases", "alias, kind, original_transaction_id, line, first_as_of, last_as_of",
            """
            CONCAT(\(kind), \(original), \(period)), \(kind), \(original), CONCAT(\(original), \(period)), \(now), \(now)
            """)
        }
        try insert(
          "events",
          """
          id, notification_type, original_transaction_id, date, source, as_of, details, message, precedence
          """,
          """
          CONCAT('e', \(original), \(period)), 'DID_RENEW', \(original), \(now), 50, \(now), '{}', \(digest), \(rank)
          """)
      }
      try insert(
        "renewals", "original_transaction_id, source, as_of, facts, message, precedence",
        "\(original), 50, \(now), '{}', \(digest), \(rank)")
      try insert("links", "a, b", "CONCAT('o', \(original)), CONCAT('t', n)")
      for node in ["CONCAT('o', \(original))", "CONCAT('t', n)"] as [SQL] {
        try insert("customers", "node, label", "\(node), CONCAT('o', \(original))")
      }
      try insert(
        "attributions", "original_transaction_id, kind, line, value, first_as_of, last_as_of, message",
        "\(original), 2, '', CONCAT('user ', n), \(now), \(now), \(digest)")
      try insert("user_ids", "user_id, original_transaction_id", "CONCAT('user ', n), \(original)")
      try insert(
        "histories", "original_transaction_id, asked_at, held_with", "\(original), \(now) - 1000, \(original)")
      try insert(
        "seeds", "transaction_id, kind, first_seen_at, message", "\(original), 2, \(now) - n, \(digest)")
      try insert(
        "work", "kind, subject, is_again, created_at, due_at", "1, \(original), 1, \(now) - n, \(now) - n")
      try insert(
        "renewal_checks", "original_transaction_id, due_at, known_as_of", "\(original), \(now) - n, \(now) - 1")
      try insert(
        "consumption_requests", "id, transaction_id, original_transaction_id, asked_at, deadline, message, due_at",
        "CONCAT('c', n), \(original), \(original), \(now) - n, \(now) + 1000000, \(digest), \(now) - n")
      let tenth: SQL = "\(range) WHERE n MOD 10 = 0"
      try insert(
        "claimed_changes", "original_transaction_id, since, latest_at, changes, because, message, line",
        "\(original), \(now), \(now), 1, 1, \(digest), ''", tenth)
      try insert(
        "work", "kind, subject, is_again, created_at, due_at", "2, \(original), 1, \(now) - n, \(now) - n", tenth)
      try insert(
        "work", "kind, subject, created_at, due_at", "4, CONCAT('9', \(original)), \(now) - n, \(now) - n", tenth)
      _ = try session.execute(
        """
        INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size)
        SELECT UNHEX(SHA2(CONCAT('set aside ', n), 256)), \(now), 'legacy', 'wrongSecret', '', '', 1, 'grown', 5 \(tenth)
        """)
      _ = try session.execute(
        """
        INSERT INTO claims (digest, environment)
        SELECT UNHEX(SHA2(CONCAT('set aside ', n), 256)), \(scope.environment.code) \(tenth)
        """)
    }
  }
}

@testable import Ledger

/// Thousands of messages that wait for the destination of a fixture, written in bulk.
///
/// Each message has 40 bytes. A customer has four of them, and one customer has a tenth of all.
struct Backlog {
  let fixture: OutboxFixture

  /// Adds rows up to `size`.
  func grow(to size: Int) async throws {
    let (scope, destination, now) = (fixture.scope, fixture.destination.id.number, OutboxFixture.now)
    try await fixture.pool.transaction { session throws(DatabaseError) in
      let first = try session.query("SELECT COUNT(*) FROM outbox").first?.int(0) ?? 0
      let range: SQL = "FROM \(Self.numbers(first, size))"
      // The row of each of these numbers.
      let rows: SQL = """
        FROM (SELECT sequence, class, created_at, created_at + 1000000 - \(now) AS n FROM outbox
          WHERE destination = \(destination)) o WHERE n >= \(first) AND n < \(size)
        """
      _ = try session.execute(
        """
        INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, signed_at, title, size)
        SELECT UNHEX(SHA2(n, 256)), 202611, \(now), REPEAT('a', 16), 1, \(scope.app.number), \(scope.environment.code),
          \(now), 'backlog', 40 \(range)
        """)
      for start in stride(from: first, to: size, by: 500) {
        let rows = (start..<min(start + 500, size)).map { number -> SQL in
          let message = InboxMessage(
            kind: .notification, body: Array("message \(number)".utf8), claim: nil, receivedAt: now,
            digest: .sha256(Array("\(number)".utf8)))
          let body = BodyVault.ofTests.seal(message, sharesHeaders: false).bytes
          return "(202611, \(message.digest.bytes), \(body))"
        }
        _ = try session.execute("INSERT INTO bodies (month, digest, body) VALUES \(rows.joined(separator: ", "))")
      }
      _ = try session.execute(
        """
        INSERT INTO outbox (destination, message, created_at, due_at, expires_at, class, readiness, size)
        SELECT \(destination), UNHEX(SHA2(n, 256)), \(now) - 1000000 + n, \(now) - 1000000 + n, \(now + .days(3)), 1, 1, 40
        \(range) ORDER BY n
        """)
      let customer: SQL = "IF(n MOD 10 = 9, 'obig', CONCAT('o', n DIV 4))"
      _ = try session.execute(
        """
        INSERT INTO outbox_members (destination, member, sequence) SELECT \(destination), \(customer), sequence \(rows)
        """)
      _ = try session.execute(
        """
        INSERT INTO customers (app, environment, node, label)
        SELECT DISTINCT \(scope.app.number), \(scope.environment.code), \(customer), \(customer) \(range)
        ON DUPLICATE KEY UPDATE label = VALUES(label)
        """)
      _ = try session.execute(
        """
        INSERT INTO outbox_keys (destination, customer, class, sequence, enqueued_at)
        SELECT \(destination), \(customer), class, sequence, created_at \(rows)
        """)
    }
  }

  /// A table of the numbers `n` from `first` up to `end`.
  static func numbers(_ first: Int, _ end: Int) -> SQL {
    "(SELECT seq - 1 AS n FROM \(SQL.numbers(end)) WHERE seq > \(first)) range_of_numbers"
  }
}

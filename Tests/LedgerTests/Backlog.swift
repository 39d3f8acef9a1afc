import Database
import Purchases
import Signing
import Time

@testable import Ledger

/// Thousands of messages that wait at the destination of a fixture, written in bulk: 40 bytes each, four of each customer,
/// and one customer who has a tenth of them all.
struct Backlog {
  let fixture: OutboxFixture

  /// Makes the rows up to `size`, those that are there left as they are.
  func grow(to size: Int) async throws {
    let (scope, destination, now) = (fixture.scope, fixture.destination.id.number, OutboxFixture.now)
    try await fixture.pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(Self.numbers)
      let first = try session.query("SELECT COUNT(*) FROM outbox").first?.int(0) ?? 0
      let range: SQL = "FROM numbers WHERE n >= \(first) AND n < \(size)"
      _ = try session.execute(
        """
        INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, signed_at, title, size)
        SELECT UNHEX(SHA2(n, 256)), 202611, \(now), REPEAT('a', 16), 1, \(scope.app.number), \(scope.environment.code),
          \(now), 'backlog', 40 \(range)
        """)
      // One piece of literal bytes: CompactBody.
      _ = try session.execute(
        """
        INSERT INTO bodies (month, digest, body)
        SELECT 202611, UNHEX(SHA2(n, 256)), CONCAT(UNHEX('0000000028'), RPAD(CONCAT('message ', n), 40, ' ')) \(range)
        """)
      _ = try session.execute(
        """
        INSERT INTO outbox (destination, message, created_at, due_at, expires_at, class, readiness, size)
        SELECT \(destination), UNHEX(SHA2(n, 256)), \(now) - 1000000 + n, \(now) - 1000000 + n, \(now + .days(3)), 1, 1, 40
        \(range) ORDER BY n
        """)
      let customer: SQL = "IF(n MOD 10 = 9, 'obig', CONCAT('o', n DIV 4))"
      _ = try session.execute(
        """
        INSERT INTO outbox_members (destination, member, sequence) SELECT \(destination), \(customer), o.sequence
        FROM numbers JOIN outbox o ON o.destination = \(destination) AND o.message = UNHEX(SHA2(n, 256))
        WHERE n >= \(first) AND n < \(size)
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
        SELECT \(destination), \(customer), o.class, o.sequence, o.created_at
        FROM numbers JOIN outbox o ON o.destination = \(destination) AND o.message = UNHEX(SHA2(n, 256))
        WHERE n >= \(first) AND n < \(size)
        """)
    }
  }

  /// The numbers from 0 to 99,999 as a table; MySQL has no other.
  static func prepare(_ pool: Pool) async throws {
    try await pool.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE numbers (n INT NOT NULL PRIMARY KEY)")
    }
  }

  /// Fills that table.
  static let numbers: SQL = """
    INSERT INTO numbers SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 10000 * e.d
    FROM (\(digits)) a, (\(digits)) b, (\(digits)) c, (\(digits)) d, (\(digits)) e ON DUPLICATE KEY UPDATE n = VALUES(n)
    """

  private static let digits: SQL = """
    SELECT 0 AS d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4
    UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9
    """
}

import AppStore
import Database
import Ledger
import Purchases
import Runtime
import Seeding
import Signing
import Time

/// The ledger of a benchmark as it is looked at from outside: ids put in as they arrive, and what has become of them.
struct HistoryLedger {
  let pool: Pool
  let app: App

  /// Has the customers' ids arrive, those of one customer linked as a receipt links them.
  func arrive(_ customers: HistoryCustomers) async throws {
    let (ledger, now) = (LedgerStore(pool: pool, keys: Keyring(current: .generate())), WallClock.system.now())
    for first in stride(from: 0, to: customers.count, by: 64) {
      let entries = customers.originals[first..<min(first + 64, customers.count)].map { ids in
        var findings = Findings(app: app.bundleID, environment: .sandbox)
        findings.seeds = ids.map { TransactionReference(app: app.bundleID, environment: .sandbox, transactionID: $0) }
        findings.links = ids.dropFirst().map {
          CustomerLink(
            app: app.bundleID, environment: .sandbox, .originalTransactionID(ids[0]), .originalTransactionID($0))
        }
        let message = InboxMessage(kind: .evidence, body: Array("\(ids)".utf8), receivedAt: now)
        return LedgerEntry(
          message,
          .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: nil, title: "receipt")))
      }
      _ = try await ledger.append(entries)
    }
  }

  /// Leaves behind that Apple takes this many calls a second, as a process would that has learned it.
  func knowNoLimit() async throws {
    let now = WallClock.system.now()
    for endpoint in [Endpoint.getTransactionHistory, .getAllSubscriptionStatuses] {
      let key = RateLimitKey(app: app.bundleID, endpoint: endpoint, environment: .sandbox)
      let rate = AdaptiveRate(
        perSecond: RateBounds.unknown(key).most, blockedUntil: nil, refusedRate: nil, refusedAt: nil)
      // Its share has ended long ago: the budget is not divided by it.
      _ = try await DatabaseRateLimitStore(pool: pool).renew(key, knowing: rate, at: now - .minutes(1))
    }
  }

  /// Whether Apple is still to be asked about an id; costs the same however many wait.
  func isWaiting() async throws -> Bool {
    try await pool.read { session throws(DatabaseError) in
      try !session.query(
        """
        SELECT 1 FROM work WHERE app = \(app.id.number) AND environment = 2 AND kind = 1 AND state = 0 LIMIT 1
        """
      ).isEmpty
    }
  }

  /// What is there when nothing waits any more.
  struct Outcome {
    /// From the first answer to the last settled row.
    let took: Interval
    /// Rows that are not done.
    let unsettled: Int
    /// Answers that failed.
    let again: Int
    let transactionIDs: Set<String>
    let purchases: Int
  }

  func outcome() async throws -> Outcome {
    let app = app.id.number
    return try await pool.read { session throws(DatabaseError) in
      let asked = try session.query(
        """
        SELECT MIN(received_at) AS begun FROM inbox WHERE app = \(app)
        AND kind = \(InboxMessage.Kind.apiAnswer.rawValue)
        """)
      let work = try session.query(
        """
        SELECT COALESCE(MAX(settled_at), 0) AS ended, COUNT(*) AS ids, CAST(SUM(state = 1) AS SIGNED) AS done,
          CAST(SUM(attempts) AS SIGNED) AS again
        FROM work WHERE app = \(app)
        """)
      let purchases = try session.query(
        "SELECT COUNT(*) AS count FROM purchases WHERE app = \(app) AND source = \(Source.signedV2.rawValue)")
      var ids: Set<String> = []
      for row in try session.query(
        "SELECT alias FROM aliases WHERE app = \(app) AND kind = \(Alias.Kind.transactionID.rawValue)")
      {
        ids.insert(try row.text(0))
      }
      guard let asked = asked.first, let work = work.first, let purchases = purchases.first,
        let begun = try asked.optionalMilliseconds("begun")
      else { throw DatabaseError(.column, "nobody was asked about") }
      return Outcome(
        took: try work.milliseconds("ended") - begun, unsettled: try work.int("ids") - (try work.int("done")),
        again: try work.int("again"), transactionIDs: ids, purchases: try purchases.int("count"))
    }
  }
}

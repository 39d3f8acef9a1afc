package import Database
package import Time

/// `budgets`: each process's view of Apple's rate limit, and the end of its share.
///
/// A process writes only its own row and reads the others, so that no row is contended.
package enum RateLimitTable {
  package struct Record: Hashable, Sendable {
    package var until: Timestamp
    /// Calls per second.
    package var rate: Double
    package var blockedUntil: Timestamp?
    package var refusedRate: Double?
    package var refusedAt: Timestamp?
    /// The end of the interval of the last call by any process.
    package var takenUntil: Timestamp?

    package init(
      until: Timestamp, rate: Double, blockedUntil: Timestamp?, refusedRate: Double?, refusedAt: Timestamp?,
      takenUntil: Timestamp?
    ) {
      self.until = until
      self.rate = rate
      self.blockedUntil = blockedUntil
      self.refusedRate = refusedRate
      self.refusedAt = refusedAt
      self.takenUntil = takenUntil
    }
  }

  /// The time to keep a process's view after its last share.
  private static let memory = Interval.hours(24)

  /// Returns the views of all processes, by process, without rates that were unused for a day.
  package static func entries(
    of budget: String, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> [[UInt8]: Record] {
    var entries: [[UInt8]: Record] = [:]
    for row in try session.query(
      """
      SELECT process, until, rate, blocked_until, refused_rate, refused_at, taken_until FROM budgets
      WHERE budget = \(budget) AND until > \(now - memory)
      """)
    {
      entries[try row.bytes("process")] = Record(
        until: try row.milliseconds("until"), rate: perSecond(try row.int64("rate")),
        blockedUntil: try row.optionalMilliseconds("blocked_until"),
        refusedRate: try row.optionalInt64("refused_rate").map(perSecond),
        refusedAt: try row.optionalMilliseconds("refused_at"),
        takenUntil: try row.optionalMilliseconds("taken_until"))
    }
    return entries
  }

  package static func put(
    _ entry: Record, of budget: String, by process: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO budgets (budget, process, until, rate, blocked_until, refused_rate, refused_at, taken_until)
      VALUES (\(budget), \(process), \(entry.until), \(number(entry.rate)), \(entry.blockedUntil),
        \(entry.refusedRate.map(number)), \(entry.refusedAt), \(entry.takenUntil))
      ON DUPLICATE KEY UPDATE until = VALUES(until), rate = VALUES(rate), blocked_until = VALUES(blocked_until),
        refused_rate = VALUES(refused_rate), refused_at = VALUES(refused_at),
        taken_until = VALUES(taken_until)
      """)
  }

  package static func purge(at now: Timestamp, in session: borrowing Session) throws(DatabaseError) -> Int {
    Int(try session.execute("DELETE FROM budgets WHERE until < \(now - memory) LIMIT 1000").affectedRows)
  }

  private static func number(_ rate: Double) -> Int64 { Int64(min(max(rate, 0), 1e9) * 1e6) }
  private static func perSecond(_ number: Int64) -> Double { Double(number) / 1e6 }
}

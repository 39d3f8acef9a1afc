package import Database
package import Time

/// The state of an app's waiting history lookups in an environment, and its effect on their time.
package struct WaitingLookUps: Sendable {
  package struct Leased: Hashable, Sendable {
    /// Host and process ID.
    ///
    /// `nil` if the process did not write it or is long gone.
    package let process: String?
    package let isAlive: Bool
    package let count: Int
  }

  package let leased: [Leased]
  /// The number of due lookups, up to a limit.
  package let due: Int
  package let next: (at: Timestamp, reason: String?)?
  /// The latest of a thousand delayed lookups with a reason that applies to the whole app.
  package let hold: (at: Timestamp, reason: String)?
  package let isAnybodyAlive: Bool

  private static let counted = 1_000

  package static func read(
    _ scope: AppScope, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Self {
    let alive = try ProcessTable.alive(in: session)
    let names = try ProcessTable.names(in: session)
    let living = Set(alive.map { Array($0.process.prefix(WorkOwner.processBytes)) })
    let history = HistoryJobTable.Kind.history.rawValue
    let leased = try session.query(
      """
      SELECT LEFT(owner, \(WorkOwner.processBytes)) AS process, COUNT(*) AS count FROM \(Table.work.by("leased"))
      WHERE owner > '' AND \(in: scope) AND kind = \(history) AND state = 0 AND due_at > \(now)
      GROUP BY process ORDER BY process
      """
    ).map { row throws(DatabaseError) in
      let process = try row.bytes("process")
      return Leased(process: names[process], isAlive: living.contains(process), count: try row.int("count"))
    }
    let waiting: SQL = "FROM \(Table.work.by("in_order")) WHERE \(in: scope) AND kind = \(history) AND state = 0"
    let due = try session.query(
      "SELECT COUNT(*) AS count FROM (SELECT 1 \(waiting) AND due_at <= \(now) LIMIT \(counted)) AS due"
    ).first?.int("count")
    let next = try session.query(
      "SELECT due_at, reason \(waiting) AND due_at > \(now) AND owner IS NULL ORDER BY due_at LIMIT 1"
    ).first.map { row throws(DatabaseError) in
      (at: try row.milliseconds("due_at"), reason: try row.optionalText("reason"))
    }
    let hold = try session.query(
      """
      SELECT due_at, reason FROM (SELECT due_at, reason \(waiting) AND due_at > \(now) AND owner IS NULL
        ORDER BY due_at LIMIT \(counted)) AS later
      WHERE reason LIKE \(HistoryJobTable.closedDoor + "%") OR reason IN (\(list: HistoryJobTable.limits)) ORDER BY due_at DESC LIMIT 1
      """
    ).first.map { row throws(DatabaseError) in (at: try row.milliseconds("due_at"), reason: try row.text("reason")) }
    return Self(leased: leased, due: due ?? 0, next: next, hold: hold, isAnybodyAlive: !alive.isEmpty)
  }
}

extension HistoryJobTable {
  /// The prefix of the reason of rows that wait because Apple refuses access for the app.
  package static let closedDoor = "Apple does not let the app in"
  /// The reasons of rows that wait because of a rate limit.
  package static let limits = ["rateLimited", "overBudget"]
}

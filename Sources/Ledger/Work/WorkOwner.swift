package import Database
import Signing
package import Time

/// The owner of leased rows of `work`: a process, with one of its leases.
package enum WorkOwner {
  /// The number of a process ID's bytes with which its leases begin.
  static let processBytes = 8

  package static func next(of process: [UInt8]) -> [UInt8] {
    Array(process.prefix(processBytes)) + [UInt8].random(count: 16 - processBytes)
  }
}

extension HistoryJobTable {
  private static let freedAtOnce = 1_000

  /// Releases leases of dead processes, and returns the number of rows.
  ///
  /// Leases of a build without heartbeats stay.
  ///
  /// - Parameter end: only leases that end by then, so that their process had time for a heartbeat.
  package static func freeLeasesOfTheDead(
    endingBefore end: Timestamp, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    let dead = try ProcessTable.silent(in: session).map { Array($0.prefix(WorkOwner.processBytes)) }
    guard !dead.isEmpty else { return 0 }
    let isDead: SQL =
      "owner > '' AND LEFT(owner, \(WorkOwner.processBytes)) IN (\(list: dead)) AND due_at <= \(end)"
    let rows = try session.query(
      "SELECT id FROM \(Table.work.by("leased")) WHERE \(isDead) AND state = 0 LIMIT \(freedAtOnce)"
    ).map { row throws(DatabaseError) in try row.int64("id") }
    guard !rows.isEmpty else { return 0 }
    let freed = try session.execute(
      """
      UPDATE \(Table.work.by("PRIMARY")) SET owner = NULL, due_at = \(now)
      WHERE id IN (\(list: rows.sorted())) AND state = 0 AND \(isDead)
      """)
    return Int(freed.affectedRows)
  }
}

package import Database
package import Time

/// `processes`: which state of the stages each running service works by, as it said a moment ago.
package enum ProcessTable {
  /// A process that said nothing for so long is not there.
  package static let silence = Interval.seconds(15)

  /// Notes that a process works by this `FlagTable.mark`.
  package static func note(
    _ process: [UInt8], mark: Int64, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO processes (process, mark, seen_at) VALUES (\(process), \(mark), \(now))
      ON DUPLICATE KEY UPDATE mark = VALUES(mark), seen_at = VALUES(seen_at)
      """)
  }

  /// The marks of the processes that are there.
  package static func marks(at now: Milliseconds, in session: borrowing Session) throws(DatabaseError) -> [Int64] {
    var marks: [Int64] = []
    for row in try session.query("SELECT mark FROM processes WHERE seen_at >= \(now - silence)") {
      marks.append(try row.int64("mark"))
    }
    return marks
  }

  package static func remove(_ process: [UInt8], in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM processes WHERE process = \(process)")
  }

  package static func purge(before instant: Milliseconds, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM processes WHERE seen_at < \(instant) LIMIT 1000")
  }
}

package import Database
package import Time

/// `processes`: which state of the stages each running service works by, as it said a moment ago.
///
/// Times are those of the database's clock: the services are on several machines, whose clocks may differ.
package enum ProcessTable {
  /// A process that has said nothing for longer is not counted.
  package static let silence = Interval.seconds(15)
  /// After this time the row of a process that ended without a word is removed.
  private static let kept = Interval.hours(1)

  /// Notes that a process works by this `FlagTable.mark`, and removes rows of processes that are long gone.
  package static func note(
    _ process: [UInt8], mark: Int64, in session: borrowing Session
  ) throws(DatabaseError) {
    let now = try now(in: session)
    _ = try session.execute(
      """
      INSERT INTO processes (process, mark, seen_at) VALUES (\(process), \(mark), \(now))
      ON DUPLICATE KEY UPDATE mark = VALUES(mark), seen_at = VALUES(seen_at)
      """)
    _ = try session.execute("DELETE FROM processes WHERE seen_at < \(now - kept) LIMIT 1000")
  }

  /// The processes that are noted.
  package struct Noted: Sendable {
    /// Those of the processes that said something within `silence`.
    package fileprivate(set) var marks: [Int64] = []
    /// How long each of the others has said nothing, up to an hour: it ended without a word, or cannot reach the database.
    package fileprivate(set) var silent: [Interval] = []
  }

  package static func noted(in session: borrowing Session) throws(DatabaseError) -> Noted {
    let now = try now(in: session)
    var noted = Noted()
    for row in try session.query("SELECT mark, seen_at FROM processes WHERE seen_at >= \(now - kept)") {
      let silent = now - (try row.milliseconds("seen_at"))
      if silent > silence { noted.silent.append(silent) } else { noted.marks.append(try row.int64("mark")) }
    }
    return noted
  }

  package static func remove(_ process: [UInt8], in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM processes WHERE process = \(process)")
  }

  /// The database's clock, also where a session's `timestamp` was set; sessions are in UTC.
  private static func now(in session: borrowing Session) throws(DatabaseError) -> Milliseconds {
    let row = try session.query("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED) AS now").first
    guard let row else { throw DatabaseError(.column, "the server does not tell the time") }
    return try row.milliseconds("now")
  }
}

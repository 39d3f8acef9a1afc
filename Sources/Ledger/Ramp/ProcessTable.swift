package import Database
package import Time

/// `processes`: the stages' state that each service uses, and the live processes that call Apple.
///
/// Times are from the database's clock, since machines' clocks may differ.
package enum ProcessTable {
  package static let silence = Interval.seconds(15)
  /// The age after which the row of a process that ended without cleanup is deleted.
  private static let kept = Interval.hours(1)

  package struct Service: Hashable, Sendable {
    package let process: [UInt8]
    /// Host and process ID, as in `web-1:4121`.
    ///
    /// `nil` if the build does not write it.
    package let name: String?

    /// - Parameters:
    ///   - process: 16 random bytes.
    ///   - name: cut at 255 bytes.
    package init(process: [UInt8], name: String?) {
      self.process = process
      self.name = name.map { String(decoding: $0.utf8.prefix(255), as: UTF8.self) }
    }
  }

  package struct Status: Hashable, Sendable {
    package let service: Service
    package let mark: Int64
    package let age: Interval

    /// Whether it crashed, was suspended, or cannot reach the database.
    package var isSilent: Bool { age > silence }
  }

  /// Stores the `StageTable.mark` that a service uses, and deletes the rows of long-dead services.
  package static func note(
    _ service: Service, mark: Int64, in session: borrowing Session
  ) throws(DatabaseError) {
    let now = try now(in: session)
    _ = try session.execute(
      """
      INSERT INTO processes (process, mark, seen_at, name)
      VALUES (\(service.process), \(mark), \(now), \(service.name))
      ON DUPLICATE KEY UPDATE mark = VALUES(mark), seen_at = VALUES(seen_at)
      """)
    _ = try session.execute("DELETE FROM processes WHERE seen_at < \(now - kept) LIMIT 1000")
  }

  /// The mark of a row that only shows that the process is alive.
  ///
  /// Earlier builds treat such a row as a service that is up to date.
  private static let noMark = Int64.max

  /// Records that a process is alive.
  ///
  /// Its leases begin with the first bytes of this ID.
  ///
  /// - Parameter name: host and process ID, for messages.
  package static func beat(
    _ process: [UInt8], name: String?, in session: borrowing Session
  ) throws(DatabaseError) {
    try note(Service(process: process, name: name), mark: noMark, in: session)
  }

  /// Returns the leasing processes that are not silent, with their names.
  package static func alive(in session: borrowing Session) throws(DatabaseError) -> [(process: [UInt8], name: String?)]
  {
    let now = try now(in: session)
    return try session.query(
      "SELECT process, name FROM processes WHERE seen_at >= \(now - silence) AND mark = \(noMark)"
    ).map { row throws(DatabaseError) in (try row.bytes("process"), try row.optionalText("name")) }
  }

  /// Returns the leasing processes that became silent within the last hour.
  static func silent(in session: borrowing Session) throws(DatabaseError) -> [[UInt8]] {
    let now = try now(in: session)
    return try session.query("SELECT process FROM processes WHERE seen_at < \(now - silence) AND mark = \(noMark)")
      .map { row throws(DatabaseError) in try row.bytes("process") }
  }

  /// Returns the names of processes within the last hour, by the bytes with which their leases begin.
  static func names(in session: borrowing Session) throws(DatabaseError) -> [[UInt8]: String] {
    var names: [[UInt8]: String] = [:]
    for row in try session.query("SELECT process, name FROM processes WHERE mark = \(noMark) AND name IS NOT NULL") {
      names[Array(try row.bytes("process").prefix(WorkOwner.processBytes))] = try row.text("name")
    }
    return names
  }

  /// Returns the status of each service within the last hour, newest first, without services that stopped properly.
  package static func notes(in session: borrowing Session) throws(DatabaseError) -> [Status] {
    let now = try now(in: session)
    var notes: [Status] = []
    for row in try session.query(
      """
      SELECT process, mark, seen_at, name FROM processes WHERE seen_at >= \(now - kept)
      AND mark < \(noMark) ORDER BY seen_at DESC, process
      """)
    {
      let service = Service(process: try row.bytes("process"), name: try row.optionalText("name"))
      notes.append(Status(service: service, mark: try row.int64("mark"), age: now - (try row.milliseconds("seen_at"))))
    }
    return notes
  }

  package static func remove(_ process: [UInt8], in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM processes WHERE process = \(process)")
  }

  /// The database's clock, even if a session's `timestamp` is set.
  ///
  /// Sessions are in UTC.
  private static func now(in session: borrowing Session) throws(DatabaseError) -> Timestamp {
    let row = try session.query("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED) AS now").first
    guard let row else { throw DatabaseError(.column, "the server does not report the time") }
    return try row.milliseconds("now")
  }
}

package import Database
package import Time

/// `processes`: which state of the stages each running service works by, as it said a moment ago; and which processes that
/// ask Apple are alive.
///
/// Times are those of the database's clock: the services are on several machines, whose clocks may differ.
package enum ProcessTable {
  /// A service that has said nothing for longer is silent.
  package static let silence = Interval.seconds(15)
  /// After this time the row of a process that ended without a word is removed.
  private static let kept = Interval.hours(1)

  /// A running service, as it notes itself.
  package struct Service: Hashable, Sendable {
    package let process: [UInt8]
    /// Host and process id, as in `web-1:4121`; nil of a build that does not say.
    package let name: String?

    /// - Parameters:
    ///   - process: 16 random bytes.
    ///   - name: cut at 255 bytes.
    package init(process: [UInt8], name: String?) {
      self.process = process
      self.name = name.map { String(decoding: $0.utf8.prefix(255), as: UTF8.self) }
    }
  }

  /// What a service last said.
  package struct Status: Hashable, Sendable {
    package let service: Service
    /// The `StageTable.mark` by which it works.
    package let mark: Int64
    /// How long it has said nothing since.
    package let age: Interval

    /// Whether it ended without a word, was suspended, or cannot reach the database.
    package var isSilent: Bool { age > silence }
  }

  /// Notes that a service works by this `StageTable.mark`, and removes rows of services that are long gone.
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

  /// Of rows that say no more than that the process is alive.
  ///
  /// For the build before they are services that follow.
  private static let noMark = Int64.max

  /// Notes that a process is alive whose leases begin with the first bytes of this id.
  ///
  /// - Parameter name: host and process id, for people.
  package static func beat(
    _ process: [UInt8], name: String?, in session: borrowing Session
  ) throws(DatabaseError) {
    try note(Service(process: process, name: name), mark: noMark, in: session)
  }

  /// The processes that lease and were alive within `silence`, with their names.
  package static func alive(in session: borrowing Session) throws(DatabaseError) -> [(process: [UInt8], name: String?)]
  {
    let now = try now(in: session)
    return try session.query(
      "SELECT process, name FROM processes WHERE seen_at >= \(now - silence) AND mark = \(noMark)"
    ).map { row throws(DatabaseError) in (try row.bytes("process"), try row.optionalText("name")) }
  }

  /// The processes that lease and said nothing within `silence`, but did within the last hour.
  static func silent(in session: borrowing Session) throws(DatabaseError) -> [[UInt8]] {
    let now = try now(in: session)
    return try session.query("SELECT process FROM processes WHERE seen_at < \(now - silence) AND mark = \(noMark)")
      .map { row throws(DatabaseError) in try row.bytes("process") }
  }

  /// What processes called themselves within the last hour, by the bytes that their leases begin with.
  static func names(in session: borrowing Session) throws(DatabaseError) -> [[UInt8]: String] {
    var names: [[UInt8]: String] = [:]
    for row in try session.query("SELECT process, name FROM processes WHERE mark = \(noMark) AND name IS NOT NULL") {
      names[Array(try row.bytes("process").prefix(WorkOwner.processBytes))] = try row.text("name")
    }
    return names
  }

  /// What each service said within the last hour, the newest first; a service that stopped properly is not among them.
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

  /// The database's clock, also where a session's `timestamp` was set; sessions are in UTC.
  private static func now(in session: borrowing Session) throws(DatabaseError) -> Timestamp {
    let row = try session.query("SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED) AS now").first
    guard let row else { throw DatabaseError(.column, "the server does not report the time") }
    return try row.milliseconds("now")
  }
}

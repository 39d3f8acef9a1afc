import Database
import Signing

extension Rebuild {
  /// The second database: its tables and the read messages.
  ///
  /// These are recorded by digest, not by time: a replay keeps the original time of receipt, and hosts' clocks differ.
  struct Staging: Sendable {
    let name: String
    private let database: String

    /// A table that only a rebuild creates.
    ///
    /// A database without it has another owner.
    private static let marker = "seen_messages"
    private static let derived = [
      "purchases", "purchase_marks", "renewals", "app_transactions", "aliases", "attributions", "user_ids",
      "waiting_user_ids", "links", "customers", "events", "seeds", "claimed_links", "claimed_aliases",
      "claimed_attributions",
    ]
    private static let oldPrefix = "old_"

    init(beside database: String) {
      self.database = database
      name = "\(database)_rebuild"
    }

    /// Creates the database, and replaces the one of an interrupted rebuild.
    ///
    /// Throws if it is not a rebuild's.
    func claim(on connection: Connection) async throws {
      let reason = try await connection.read { session throws(DatabaseError) -> String? in
        if !(try session.query("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = \(name)").isEmpty) {
          if let reason = try reasonNotToDrop(in: session) { return reason }
          try drop(in: session)
        }
        try session.run("CREATE DATABASE \(identifier: name)")
        return nil
      }
      if let reason { throw Failure(.foreignDatabase, "\(name) \(reason)") }
    }

    /// Returns `nil` if the database has the marker and only tables of a rebuild.
    private func reasonNotToDrop(in session: Session) throws(DatabaseError) -> String? {
      var ours = try Set(tables(of: database, in: session)).union(Self.derived.map { Self.oldPrefix + $0 })
      ours.insert(Self.marker)
      let found = try tables(of: name, in: session)
      guard found.contains(Self.marker) else { return "has no table \(Self.marker)" }
      if let other = found.first(where: { !ours.contains($0) }) { return "has a table \(other)" }
      let others = try session.query(
        """
        SELECT TABLE_NAME AS other FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = \(name) AND TABLE_TYPE <> 'BASE TABLE'
        UNION ALL SELECT ROUTINE_NAME FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = \(name)
        UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = \(name)
        """)
      return try others.first.map { row throws(DatabaseError) in "has \(try row.text("other"))" }
    }

    private func tables(of database: String, in session: Session) throws(DatabaseError) -> [String] {
      let rows = try session.query(
        """
        SELECT TABLE_NAME AS name FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = \(database) AND TABLE_TYPE = 'BASE TABLE' ORDER BY name
        """)
      return try rows.map { row throws(DatabaseError) in try row.text("name") }
    }

    func mark(in session: Session) throws(DatabaseError) {
      try session.run("CREATE TABLE \(seen) (digest BINARY(32) NOT NULL PRIMARY KEY) ENGINE=InnoDB")
    }

    func drop(in session: Session) throws(DatabaseError) {
      try session.run("DROP DATABASE IF EXISTS \(identifier: name)")
    }

    private var seen: SQL { "\(identifier: name).\(identifier: Self.marker)" }

    /// Returns unread messages in the order of their digests, beginning after `last`.
    ///
    /// Empty at the end. It returns at most `limit`, as many as fit into memory. Their digests are read before any
    /// join, since later passes find few messages in the whole inbox.
    func unseen(
      after last: Digest?, limit: Int, _ bodies: BodyVault, in session: Session
    ) throws(DatabaseError) -> [StoredMessage] {
      let start = last?.bytes ?? []
      let rows = try session.query(
        """
        SELECT i.digest, i.size FROM \(identifier: database).inbox i FORCE INDEX (PRIMARY)
        LEFT JOIN \(seen) s ON s.digest = i.digest WHERE s.digest IS NULL AND i.digest > \(start) ORDER BY i.digest LIMIT \(limit)
        """)
      let sizes = try rows.map { row throws(DatabaseError) in try row.int("size") }
      let digests = try rows.map { row throws(DatabaseError) in Digest(bytes: try row.bytes("digest")) }
      let some = digests.prefix(BodyPage.count(of: sizes)).compactMap(\.self)
      return try InboxTable.messages(some, bodies, in: session)
    }

    /// Records messages as read, in the transaction that writes their findings.
    func note(_ messages: [StoredMessage], in session: Session) throws(DatabaseError) {
      let rows = messages.map { stored -> SQL in "(\(stored.message.digest.bytes))" }
      _ = try session.execute("INSERT INTO \(seen) (digest) VALUES \(rows.joined(separator: ", "))")
    }

    /// Exchanges the tables.
    ///
    /// All renames of one statement are atomic.
    func exchange(in session: Session) throws(DatabaseError) {
      // Writers wait behind this statement while it waits for a long reader, so the wait is short.
      try session.run("SET SESSION lock_wait_timeout = 2")
      let renames = Self.derived.map { table -> SQL in
        """
        \(identifier: database).\(identifier: table) TO \(identifier: name).\(identifier: Self.oldPrefix + table), \
        \(identifier: name).\(identifier: table) TO \(identifier: database).\(identifier: table)
        """
      }
      try session.run("RENAME TABLE \(renames.joined(separator: ", "))")
    }
  }
}

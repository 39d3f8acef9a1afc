package import Database

/// How many rows a session's statements made the server read, by the server's own counters.
///
/// The counters are more honest than EXPLAIN: they count what was read, not what the optimiser expected to read. Use
/// them to show that a statement reads no more rows when a table holds more: measure it at 10,000 and at 100,000 rows
/// and expect the same bound at both sizes.
///
/// ```swift
/// let read = try await RowsRead.during(pool) { session throws(DatabaseError) in try SomeTable.lease(in: session) }
/// #expect(read.total <= 20, "\(read)")
/// ```
///
/// Counted are the session's `Handler_read_*` counters (rows and index entries handed to the SQL layer) and, where the
/// server has it, `Handler_icp_attempts` (index entries that the storage engine looked at and left out). Not counted
/// are entries of rows that are deleted and not purged yet.
package struct RowsRead: Sendable, CustomStringConvertible {
  /// Counters that advanced, by their names.
  package let counters: [String: Int]

  /// Rows and index entries in all.
  package var total: Int { counters.values.reduce(0, +) }

  package var description: String {
    "\(total) rows: " + counters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }

  /// Returns what `body` read, in a transaction of its own that is committed.
  package static func during(
    _ pool: Pool, _ body: @Sendable (Session) throws(DatabaseError) -> Void
  ) async throws(DatabaseError) -> RowsRead {
    try await pool.transaction { session throws(DatabaseError) in
      let start = try counters(of: session)
      // Reading the counters counts too: the second reading tells how much.
      let before = try counters(of: session)
      try body(session)
      let after = try counters(of: session)
      var read: [String: Int] = [:]
      for (name, value) in after {
        let advanced = value - (before[name] ?? 0) - ((before[name] ?? 0) - (start[name] ?? 0))
        if advanced != 0 { read[name] = advanced }
      }
      return RowsRead(counters: read)
    }
  }

  /// Returns what `body` read over a pool of a single connection, in whatever transactions it made.
  package static func duringAll(of pool: Pool, _ body: () async throws -> Void) async throws -> RowsRead {
    let before = try await pool.read { session throws(DatabaseError) in try counters(of: session) }
    try await body()
    let after = try await pool.read { session throws(DatabaseError) in try counters(of: session) }
    // Reading the counters counts too, by as much as there are of them.
    let own = try await during(pool) { session throws(DatabaseError) in
      _ = try session.query("SHOW SESSION STATUS LIKE 'Handler%'")
    }
    var read: [String: Int] = [:]
    for (name, value) in after {
      let advanced = value - (before[name] ?? 0) - (own.counters[name] ?? 0)
      if advanced != 0 { read[name] = advanced }
    }
    return RowsRead(counters: read)
  }

  private static func counters(of session: Session) throws(DatabaseError) -> [String: Int] {
    var counters: [String: Int] = [:]
    for row in try session.query("SHOW SESSION STATUS LIKE 'Handler%'") {
      let name = try row.text(0)
      guard name.hasPrefix("Handler_read") || name == "Handler_icp_attempts" else { continue }
      counters[name] = Int(try row.text(1))
    }
    return counters
  }
}

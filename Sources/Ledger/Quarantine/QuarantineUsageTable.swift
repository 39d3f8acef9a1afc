package import Database

/// `quarantine_usage`: the messages and bytes of each source.
///
/// Quota checks read this table instead of a sum. A transaction changes it after the rows of `quarantine`, so that a
/// holder of a count never waits for a row.
package enum QuarantineUsageTable {
  static func all(in session: borrowing Session) throws(DatabaseError) -> [QuarantineSource: QuarantineUsage] {
    var usage: [QuarantineSource: QuarantineUsage] = [:]
    for row in try session.query("SELECT source, messages, bytes FROM quarantine_usage") {
      guard let source = QuarantineSource(rawValue: try row.text("source")) else { continue }
      let kept = QuarantineUsage(messages: try row.int("messages"), bytes: try row.int("bytes"))
      if kept.messages > 0 { usage[source] = kept }
    }
    return usage
  }

  static func add(
    _ added: [QuarantineSource: QuarantineUsage], in session: borrowing Session
  ) throws(DatabaseError) {
    for (source, more) in added.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where more.messages > 0 {
      _ = try session.execute(
        """
        INSERT INTO quarantine_usage (source, messages, bytes) VALUES (\(source.rawValue), \(more.messages), \(more.bytes))
        ON DUPLICATE KEY UPDATE messages = messages + VALUES(messages), bytes = bytes + VALUES(bytes)
        """)
    }
  }

  /// Adds and subtracts the usage, each source once and in the same order for all callers.
  static func note(
    added: [QuarantineSource: QuarantineUsage], removed: [QuarantineSource: QuarantineUsage],
    in session: borrowing Session
  ) throws(DatabaseError) {
    for source in Set(added.keys).union(removed.keys).sorted(by: { $0.rawValue < $1.rawValue }) {
      let (more, less) = (added[source] ?? QuarantineUsage(), removed[source] ?? QuarantineUsage())
      let (messages, bytes) = (more.messages - less.messages, more.bytes - less.bytes)
      if messages == 0, bytes == 0 { continue }
      _ = try session.execute(
        """
        INSERT INTO quarantine_usage (source, messages, bytes)
        VALUES (\(source.rawValue), \(max(0, messages)), \(max(0, bytes)))
        ON DUPLICATE KEY UPDATE messages = GREATEST(0, messages + \(messages)), bytes = GREATEST(0, bytes + \(bytes))
        """)
    }
  }

  static func remove(
    _ removed: [QuarantineSource: QuarantineUsage], in session: borrowing Session
  ) throws(DatabaseError) {
    for (source, less) in removed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      _ = try session.execute(
        """
        UPDATE quarantine_usage SET messages = GREATEST(0, messages - \(less.messages)),
          bytes = GREATEST(0, bytes - \(less.bytes)) WHERE source = \(source.rawValue)
        """)
    }
  }

  /// Recounts each source, in one transaction per source.
  ///
  /// It corrects the counts after a binary of schema 2, or an operator, changed rows. It reads one index entry per
  /// message. Other quarantine transactions of the source wait.
  package static func recount(in pool: Pool) async throws(DatabaseError) {
    for source in QuarantineSource.allCases {
      try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try recount(source, in: session)
      }
    }
  }

  package static func recount(_ source: QuarantineSource, in session: borrowing Session) throws(DatabaseError) {
    // The count is locked first. Transactions that changed rows before have then committed, and later ones add to this
    // count.
    try add([source: QuarantineUsage(messages: 1, bytes: 0)], in: session)
    guard
      let row = try session.query(
        """
        SELECT COUNT(*) AS kept, CAST(COALESCE(SUM(size), 0) AS SIGNED) AS bytes FROM quarantine
        WHERE source = \(source.rawValue)
        """
      ).first
    else { return }
    _ = try session.execute(
      """
      UPDATE quarantine_usage SET messages = \(try row.int("kept")), bytes = \(try row.int("bytes"))
      WHERE source = \(source.rawValue)
      """)
  }
}

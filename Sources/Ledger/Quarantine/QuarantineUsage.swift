package import Database

/// How much quarantine keeps of one source.
package struct QuarantineUsage: Hashable, Sendable {
  package var messages = 0
  /// Of their bodies.
  package var bytes = 0

  func isBelow(_ quota: QuarantineUsage) -> Bool { messages < quota.messages && bytes < quota.bytes }

  mutating func add(_ size: Int) {
    messages += 1
    bytes += size
  }
}

/// `quarantine_usage`: what each source keeps, so that nobody has to sum the quarantine to know whether it is full.
///
/// A transaction changes it after all rows of `quarantine` that it writes: whoever holds a count never waits for a row.
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

  /// Counts what is kept anew, one source after the other; in a transaction of its own for each.
  ///
  /// Mends what a binary of schema 2, or a hand, changed without counting. Reads an index of as many rows as are kept, and
  /// who sets aside a message of that source waits meanwhile.
  package static func recount(in pool: Pool) async throws(DatabaseError) {
    for source in QuarantineSource.allCases {
      try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try recount(source, in: session)
      }
    }
  }

  /// Counts what is kept of a source anew.
  package static func recount(_ source: QuarantineSource, in session: borrowing Session) throws(DatabaseError) {
    // Locks the count first: who changed rows before has committed then, and who does it now adds to what is found here.
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

package import Database
package import Signing
package import Time

/// `secret_searches`: how far what was kept before has been searched for secrets in clear.
///
/// A search goes through each part in the order of its key, a page for each transaction, and goes on where it ended. It
/// is due again when a shared secret is registered or sealed anew: what was kept before may hold it.
package enum SecretSearchTable {
  /// What is searched, in this order: a replay moves messages from quarantine to the inbox, never back.
  package enum Part: String, Sendable, CaseIterable {
    /// Messages that were set aside, with their reasons.
    case quarantine
    /// The bodies of accepted messages, and their titles.
    case inbox
    /// The user ids that callers named beside messages.
    case claims
  }

  /// How far the search of a part has come.
  package struct Progress: Hashable, Sendable {
    package let secrets: Digest
    package let position: [UInt8]
    package let searched: Int
    package let changed: Int
    package let startedAt: Milliseconds
    package let finishedAt: Milliseconds?
  }

  /// Raised when more is found than before, so that everything is searched again.
  private static let rules: UInt8 = 1
  /// A row while tables that are derived from the inbox may still hold what was taken out of it.
  private static let derived = "derived"
  /// A row with the number of messages that could not be read, and so were not searched.
  private static let unreadable = "unreadable"
  /// With 16 digits of its mark after it, a row for each shared secret that did not open when messages were searched.
  private static let unopened = "unopened "

  /// Returns what the registered secrets are known by as a set; it needs no key and tells nothing of them.
  package static func registered(in session: borrowing Session) throws(DatabaseError) -> Digest {
    var bytes = [rules]
    let kind = CredentialTable.Kind.sharedSecret.rawValue
    for row in try session.query("SELECT sealed FROM credentials WHERE kind = \(kind) ORDER BY app, name") {
      bytes += Digest.sha256(try row.bytes("sealed")).bytes
    }
    return .sha256(bytes)
  }

  package static func progress(
    of part: Part, in session: borrowing Session
  ) throws(DatabaseError) -> Progress? {
    try progress("WHERE part = \(part.rawValue)", in: session)
  }

  private static func progress(_ condition: SQL, in session: borrowing Session) throws(DatabaseError) -> Progress? {
    guard
      let row = try session.query(
        "SELECT secrets, position, searched, changed, started_at, finished_at FROM secret_searches \(condition)"
      ).first, let secrets = Digest(bytes: try row.bytes("secrets"))
    else { return nil }
    return Progress(
      secrets: secrets, position: try row.bytes("position"), searched: try row.int("searched"),
      changed: try row.int("changed"), startedAt: try row.milliseconds("started_at"),
      finishedAt: try row.optionalMilliseconds("finished_at"))
  }

  /// Returns the parts that are not searched to their ends for the secrets that are registered now.
  package static func due(in session: borrowing Session) throws(DatabaseError) -> [Part] {
    let secrets = try registered(in: session)
    var due: [Part] = []
    for part in Part.allCases {
      let progress = try progress(of: part, in: session)
      if progress?.secrets != secrets || progress?.finishedAt == nil { due.append(part) }
    }
    return due
  }

  /// When a shared secret was last registered; nil if none is.
  package static func registeredAt(in session: borrowing Session) throws(DatabaseError) -> Milliseconds? {
    let kind = CredentialTable.Kind.sharedSecret.rawValue
    return try session.query("SELECT MAX(created_at) AS last FROM credentials WHERE kind = \(kind)").first?
      .optionalMilliseconds("last")
  }

  /// Since when a search is due: the upgrade to this schema, or the last registration of a shared secret.
  package static func dueSince(in session: borrowing Session) throws(DatabaseError) -> Milliseconds? {
    let kind = CredentialTable.Kind.sharedSecret.rawValue
    return try session.query(
      """
      SELECT MAX(at) AS since FROM (SELECT applied_at AS at FROM schema_versions WHERE version = 5
        UNION ALL SELECT created_at FROM credentials WHERE kind = \(kind)) AS changes
      """
    ).first?.optionalMilliseconds("since")
  }

  /// Returns the progress of a part, which begins anew if it was searched for other secrets; other processes wait for
  /// the end of this transaction.
  static func begin(
    _ part: Part, for secrets: Digest, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> Progress {
    _ = try session.execute(
      """
      INSERT INTO secret_searches (part, secrets, position, searched, changed, started_at)
      VALUES (\(part.rawValue), \(secrets.bytes), '', 0, 0, \(now))
      ON DUPLICATE KEY UPDATE
        position = IF(secrets = VALUES(secrets), position, ''), searched = IF(secrets = VALUES(secrets), searched, 0),
        changed = IF(secrets = VALUES(secrets), changed, 0),
        started_at = IF(secrets = VALUES(secrets), started_at, VALUES(started_at)),
        finished_at = IF(secrets = VALUES(secrets), finished_at, NULL), secrets = VALUES(secrets)
      """)
    guard let progress = try progress("WHERE part = \(part.rawValue) FOR UPDATE", in: session) else {
      throw DatabaseError(.column, "secret_searches lost its row")
    }
    return progress
  }

  /// Notes a page; one that was empty ends the part.
  static func note(
    _ part: Part, searched: Int, changed: Int, skipped: Int, position: [UInt8]?, for secrets: Digest,
    at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    if skipped > 0 {
      _ = try session.execute(
        """
        INSERT INTO secret_searches (part, secrets, position, searched, changed, started_at)
        VALUES (\(unreadable), \(secrets.bytes), '', 0, \(skipped), \(now))
        ON DUPLICATE KEY UPDATE changed = IF(secrets = VALUES(secrets), changed, 0) + VALUES(changed),
          started_at = VALUES(started_at), secrets = VALUES(secrets)
        """)
    }
    if let position {
      _ = try session.execute(
        """
        UPDATE secret_searches SET position = \(position), searched = searched + \(searched),
          changed = changed + \(changed) WHERE part = \(part.rawValue)
        """)
    } else {
      _ = try session.execute("UPDATE secret_searches SET finished_at = \(now) WHERE part = \(part.rawValue)")
    }
    guard changed > 0, part != .quarantine else { return }
    _ = try session.execute(
      """
      INSERT INTO secret_searches (part, secrets, position, searched, changed, started_at)
      VALUES (\(derived), REPEAT(CHAR(0), 32), '', 0, \(changed), \(now))
      ON DUPLICATE KEY UPDATE changed = changed + VALUES(changed), started_at = VALUES(started_at)
      """)
  }

  /// Notes for which secrets a search does not look, since they do not open where it runs; before its first page.
  static func note(
    unopened marks: [Digest], for secrets: Digest, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    for mark in marks {
      _ = try session.execute(
        """
        INSERT IGNORE INTO secret_searches (part, secrets, position, searched, changed, started_at)
        VALUES (\(unopened + mark.hex.prefix(16)), \(mark.bytes), '', 0, 0, \(now))
        """)
    }
  }

  /// Forgets for which secrets nothing was searched: a search begins that notes it again.
  static func forgetUnopened(in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM secret_searches WHERE part LIKE \(unopened + "%")")
  }

  /// Returns the marks of the secrets for which stored messages were not searched, since they did not open.
  package static func unopened(in session: borrowing Session) throws(DatabaseError) -> Set<Digest> {
    var marks: Set<Digest> = []
    for row in try session.query("SELECT secrets FROM secret_searches WHERE part LIKE \(unopened + "%")") {
      if let mark = Digest(bytes: try row.bytes("secrets")) { marks.insert(mark) }
    }
    return marks
  }

  /// Returns how many stored messages could not be read by the search for the secrets that are registered now.
  package static func unreadable(in session: borrowing Session) throws(DatabaseError) -> Int {
    let secrets = try registered(in: session)
    return try session.query(
      "SELECT changed FROM secret_searches WHERE part = \(unreadable) AND secrets = \(secrets.bytes)"
    ).first?.int("changed") ?? 0
  }

  /// Forgets how far the search has come: it begins anew.
  package static func restart(in session: borrowing Session) throws(DatabaseError) {
    let parts = Part.allCases.map(\.rawValue) + [unreadable]
    _ = try session.execute("DELETE FROM secret_searches WHERE part IN (\(list: parts))")
  }

  /// Returns of how many messages something was taken out since what is derived from them was made; nil for none.
  package static func underived(in session: borrowing Session) throws(DatabaseError) -> Int? {
    try session.query("SELECT changed FROM secret_searches WHERE part = \(derived)").first?.int("changed")
  }

  /// Notes that a rebuild, which began at `start`, has derived everything from what is left.
  static func forgetDerived(before start: Milliseconds, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("DELETE FROM secret_searches WHERE part = \(derived) AND started_at < \(start)")
  }
}

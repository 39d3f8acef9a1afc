package import Database
package import Signing
package import Time

package struct QuarantinedMessage: Hashable, Sendable {
  package let message: InboxMessage
  package let source: String
  package let code: String
  package let detail: String
  package let claimedApp: String
  package let replays: Int
}

/// `quarantine`: refused messages, kept until the cause is fixed and they are replayed.
package enum QuarantineTable {
  private static let upsert = BulkInsert(
    into: "INSERT INTO quarantine (digest, received_at, source, code, detail, app, kind, body, size) VALUES",
    then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)")

  private static let detailWidth = 1_024

  /// Stores the messages, and returns the usage that they add to each source.
  ///
  /// The caller records it at the end of the transaction.
  static func insert(
    _ messages: [(InboxMessage, LedgerEntry.QuarantineReason, BodyVault.Stored)], in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantineSource: QuarantineUsage] {
    let rows: [[SQLValue]] = messages.map { message, refusal, stored in
      [
        .bytes(message.digest.bytes), .integer(message.receivedAt.sinceEpoch), .text(refusal.source.rawValue),
        .text(refusal.code), .text(refusal.detail.cut(to: detailWidth)), .text((refusal.claimedApp ?? "").cut(to: 255)),
        .integer(Int64(message.kind.rawValue)), .bytes(stored.bytes), .integer(Int64(message.body.count)),
      ]
    }
    guard !rows.isEmpty else { return [:] }
    let inserted = Int(try session.insert(upsert, rows: rows.inKeyOrder(columns: 1)))
    var added: [QuarantineSource: QuarantineUsage] = [:]
    for (message, refusal, _) in messages { added[refusal.source, default: QuarantineUsage()].add(message.body.count) }
    guard inserted < messages.count else { return added }
    // If another process stored one of them concurrently, it is unknown which one. The next recount corrects the size.
    return added.mapValues { usage in
      QuarantineUsage(
        messages: usage.messages * inserted / messages.count, bytes: usage.bytes * inserted / messages.count)
    }
  }

  package static func usage(
    in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantineSource: QuarantineUsage] {
    try QuarantineUsageTable.all(in: session)
  }

  package struct Reason: Sendable {
    package let code: String
    package let source: String
    package let count: Int
    package let oldest: Timestamp
    package let newest: Timestamp
  }

  package static func reasons(in session: borrowing Session) throws(DatabaseError) -> [Reason] {
    var reasons: [Reason] = []
    for row in try session.query(
      """
      SELECT code, source, COUNT(*) AS kept, MIN(received_at) AS oldest, MAX(received_at) AS newest
      FROM quarantine GROUP BY code, source ORDER BY kept DESC, code
      """)
    {
      reasons.append(
        Reason(
          code: try row.text("code"), source: try row.text("source"), count: try row.int("kept"),
          oldest: try row.milliseconds("oldest"), newest: try row.milliseconds("newest")))
    }
    return reasons
  }

  static func known(_ digests: [Digest], in session: borrowing Session) throws(DatabaseError) -> Set<Digest> {
    try Table.quarantine.known(digests, in: session)
  }

  /// Changes the reason of messages.
  ///
  /// Their bodies and times of receipt stay.
  ///
  /// - Returns: the usage added to and removed from each source. The caller records it at the end of the transaction.
  static func rename(
    _ messages: [(InboxMessage, LedgerEntry.QuarantineReason)], in session: borrowing Session
  ) throws(DatabaseError) -> (
    added: [QuarantineSource: QuarantineUsage], removed: [QuarantineSource: QuarantineUsage]
  ) {
    var (added, removed): ([QuarantineSource: QuarantineUsage], [QuarantineSource: QuarantineUsage]) = ([:], [:])
    for (message, refusal) in messages.sorted(by: {
      $0.0.digest.bytes.lexicographicallyPrecedes($1.0.digest.bytes)
    }) {
      let rows = try session.query(
        "SELECT source, size FROM quarantine WHERE digest = \(message.digest.bytes) AND code <> \(refusal.code) FOR UPDATE"
      )
      guard let row = rows.first else { continue }
      _ = try session.execute(
        """
        UPDATE quarantine SET source = \(refusal.source.rawValue), code = \(refusal.code),
          detail = \(refusal.detail.cut(to: detailWidth)), app = \((refusal.claimedApp ?? "").cut(to: 255))
        WHERE digest = \(message.digest.bytes)
        """)
      added[refusal.source, default: QuarantineUsage()].add(try row.int("size"))
      if let source = QuarantineSource(rawValue: try row.text("source")) {
        removed[source, default: QuarantineUsage()].add(try row.int("size"))
      }
    }
    return (added, removed)
  }

  static func find(
    _ digests: [Digest], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantinedMessage] {
    let rows = try session.query(
      """
      SELECT quarantine.digest, received_at, source, code, detail, app, kind, body, replays,
        claims.environment AS claimed_environment, claims.user_id, claims.is_stored
      FROM \(Table.quarantine.each(digests.map(\.bytes)))
        LEFT JOIN \(Table.claims.by("PRIMARY")) ON claims.digest = quarantine.digest
      """)
    var messages: [QuarantinedMessage] = []
    for row in rows {
      guard let digest = Digest(bytes: try row.bytes("digest")),
        let kind = InboxMessage.Kind(rawValue: try row.int("kind"))
      else { throw DatabaseError(.column, "a quarantine row that this build cannot read") }
      messages.append(
        QuarantinedMessage(
          message: InboxMessage(
            kind: kind, body: try body(of: row, digest, bodies), claim: try ClaimTable.claim(of: row),
            receivedAt: try row.milliseconds("received_at"), digest: digest),
          source: try row.text("source"), code: try row.text("code"), detail: try row.text("detail"),
          claimedApp: try row.text("app"), replays: try row.int("replays")))
    }
    return messages
  }

  private static func body(
    of row: Row, _ digest: Digest, _ bodies: BodyVault
  ) throws(DatabaseError) -> [UInt8] {
    let (bytes, receivedAt) = (try row.bytes("body"), try row.milliseconds("received_at"))
    return try BodyDamage.named(digest) { () throws(BodyDamage) in
      try bodies.open(bytes, of: digest, receivedAt: receivedAt).body(with: [:])
    }
  }

  /// Deletes messages that were accepted later.
  ///
  /// Call it last in the transaction.
  package static func release(_ digests: [Digest], in session: borrowing Session) throws(DatabaseError) {
    var removed: [QuarantineSource: QuarantineUsage] = [:]
    for part in digests.map(\.bytes).parts() { _ = try delete(part, &removed, in: session) }
    try QuarantineUsageTable.remove(removed, in: session)
  }

  /// Deletes rows, adds their usage to `removed`, and returns their number.
  private static func delete(
    _ digests: [[UInt8]], _ removed: inout [QuarantineSource: QuarantineUsage], in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    // Locked first, so that only one of two concurrent deletions counts a row.
    let kept = Table.quarantine.each(digests.sorted { $0.lexicographicallyPrecedes($1) })
    let rows = try session.query("SELECT source, size FROM \(kept) FOR UPDATE")
    for row in rows {
      guard let source = QuarantineSource(rawValue: try row.text("source")) else { continue }
      removed[source, default: QuarantineUsage()].add(try row.int("size"))
    }
    return Int(try session.execute("DELETE quarantine FROM \(kept)").affectedRows)
  }

  /// Records a repeated refusal with its reason.
  ///
  /// A proven message keeps its reason if this replay could not prove it: the roots of the replay are the likely cause.
  package static func noteReplay(
    _ digest: Digest, _ refusal: LedgerEntry.QuarantineReason, in session: borrowing Session
  ) throws(DatabaseError) {
    let isProven = refusal.source != .unproven
    _ = try session.execute(
      """
      UPDATE quarantine SET
        code = IF(\(isProven) OR source = \(QuarantineSource.unproven.rawValue), \(refusal.code), code),
        detail = IF(\(isProven) OR source = \(QuarantineSource.unproven.rawValue), \(refusal.detail.cut(to: detailWidth)), detail),
        replays = replays + 1
      WHERE digest = \(digest.bytes)
      """)
  }

  package static func count(
    receivedBefore instant: Timestamp, code: String?, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    var statement: SQL = "SELECT COUNT(*) AS count FROM quarantine WHERE received_at < \(instant)"
    if let code { statement += " AND code = \(code)" }
    return try session.query(statement).first?.int("count") ?? 0
  }

  /// Deletes the oldest messages received before `instant`, of one code on request, and returns their number.
  ///
  /// It deletes at most `limit`, so that locks are short: repeat it until it returns 0. Call it last in the
  /// transaction.
  package static func purge(
    receivedBefore instant: Timestamp, code: String?, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> Int {
    // `size` is not in that index: see `LedgerStore.slice`.
    var selection: SQL =
      "SELECT digest FROM \(Table.quarantine.by("received_at")) WHERE received_at < \(instant) AND size IS NOT NULL"
    if let code { selection += " AND code = \(code)" }
    // Sorted, since writers of claims lock them in this order.
    let digests = try session.query(selection + " ORDER BY received_at LIMIT \(limit)").map {
      row throws(DatabaseError) in
      try row.bytes("digest")
    }
    .sorted { $0.lexicographicallyPrecedes($1) }
    guard !digests.isEmpty else { return 0 }
    // The claim is deleted too, unless the message was accepted meanwhile.
    _ = try session.execute(
      """
      DELETE claims FROM \(Table.claims.each(digests))
      LEFT JOIN \(Table.inbox.by("PRIMARY")) ON inbox.digest = claims.digest WHERE inbox.digest IS NULL
      """)
    var removed: [QuarantineSource: QuarantineUsage] = [:]
    let count = try delete(digests, &removed, in: session)
    try QuarantineUsageTable.remove(removed, in: session)
    return count
  }
}

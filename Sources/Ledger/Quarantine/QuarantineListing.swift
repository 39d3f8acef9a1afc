package import Database
package import Signing
package import Time

package struct QuarantineListing: Sendable {
  package let digest: Digest
  package let receivedAt: Timestamp
  package let kind: InboxMessage.Kind
  package let source: String
  package let code: String
  package let detail: String
  package let claimedApp: String
  package let replays: Int
  package let size: Int
}

extension QuarantineTable {
  /// Returns messages after a given one, oldest first, only those of a code or digest prefix on request.
  package static func list(
    after: (Timestamp, Digest)?, code: String?, digestPrefix: [UInt8]?, limit: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantineListing] {
    var condition: SQL = "WHERE TRUE"
    if let (time, digest) = after {
      condition += " AND (received_at > \(time) OR received_at = \(time) AND digest > \(digest.bytes))"
    }
    if let code { condition += " AND code = \(code)" }
    if let digestPrefix {
      let end = digestPrefix + [UInt8](repeating: 0xFF, count: max(0, Digest.count - digestPrefix.count))
      condition += " AND digest BETWEEN \(digestPrefix) AND \(end)"
    }
    let rows = try session.query(
      """
      SELECT digest, received_at, source, code, detail, app, kind, size, replays FROM quarantine \(condition)
      ORDER BY received_at, digest LIMIT \(limit)
      """)
    return try rows.map { row throws(DatabaseError) in
      guard let digest = Digest(bytes: try row.bytes("digest")),
        let kind = InboxMessage.Kind(rawValue: try row.int("kind"))
      else { throw DatabaseError(.column, "a quarantine row that this build cannot read") }
      return QuarantineListing(
        digest: digest, receivedAt: try row.milliseconds("received_at"), kind: kind, source: try row.text("source"),
        code: try row.text("code"), detail: try row.text("detail"), claimedApp: try row.text("app"),
        replays: try row.int("replays"), size: try row.int("size"))
    }
  }

  /// Returns the listed messages that are still in quarantine, in the order of the list.
  ///
  /// All are in memory, so pass a part as `BodyPage` returns it.
  package static func messages(
    of listed: [QuarantineListing], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [QuarantinedMessage] {
    guard !listed.isEmpty else { return [] }
    let found = Dictionary(
      try find(listed.map(\.digest), bodies, in: session).map { ($0.message.digest, $0) }
    ) { first, _ in first }
    return listed.compactMap { found[$0.digest] }
  }
}

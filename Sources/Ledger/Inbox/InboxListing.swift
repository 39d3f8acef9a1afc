package import Database
package import Purchases
package import Signing
package import Time

package struct InboxListing: Sendable {
  package let digest: Digest
  package let receivedAt: Timestamp
  package let kind: InboxMessage.Kind
  package let app: App.ID
  package let environment: Environment
  package let signedAt: Timestamp?
  package let title: String
  package let size: Int
}

extension InboxTable {
  /// Returns the newest messages, only those with a digest prefix on request.
  package static func list(
    limit: Int, digestPrefix: [UInt8]?, in session: borrowing Session
  ) throws(DatabaseError) -> [InboxListing] {
    var rows: SQL = "inbox ORDER BY received_at DESC"
    if let digestPrefix {
      let end = digestPrefix + [UInt8](repeating: 0xFF, count: max(0, Digest.count - digestPrefix.count))
      rows = "inbox WHERE digest BETWEEN \(digestPrefix) AND \(end) ORDER BY digest"
    }
    return try read(rows + " LIMIT \(limit)", in: session)
  }

  package static func ends(in session: borrowing Session) throws(DatabaseError) -> [InboxListing] {
    let inbox = Table.inbox.by("received_at")
    return try read("\(inbox) ORDER BY received_at LIMIT 1", in: session)
      + read("\(inbox) ORDER BY received_at DESC LIMIT 1", in: session)
  }

  /// Returns the existing messages of these digests, in the order of `digests`.
  static func list(_ digests: [Digest], in session: borrowing Session) throws(DatabaseError) -> [InboxListing] {
    var found: [Digest: InboxListing] = [:]
    for part in digests.parts() {
      let list = part.map(\.bytes)
      for listing in try read("\(Table.inbox.by("PRIMARY")) WHERE digest IN (\(list: list))", in: session) {
        found[listing.digest] = listing
      }
    }
    return digests.compactMap { found[$0] }
  }

  private static func read(_ rows: SQL, in session: borrowing Session) throws(DatabaseError) -> [InboxListing] {
    let rows = try session.query(
      "SELECT digest, received_at, kind, app, environment, signed_at, title, size FROM \(rows)")
    return try rows.map { row throws(DatabaseError) in
      guard let digest = Digest(bytes: try row.bytes("digest")),
        let kind = InboxMessage.Kind(rawValue: try row.int("kind"))
      else { throw DatabaseError(.column, "an inbox row that this build cannot read") }
      return InboxListing(
        digest: digest, receivedAt: try row.milliseconds("received_at"), kind: kind, app: App.ID(try row.int("app")),
        environment: try Environment(code: row.int("environment")),
        signedAt: try row.optionalMilliseconds("signed_at"), title: try row.text("title"), size: try row.int("size"))
    }
  }

  /// Returns the existing messages of a list, in its order.
  ///
  /// All are in memory, so pass a part as `BodyPage` returns it.
  package static func messages(
    of listed: [InboxListing], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [StoredMessage] {
    guard !listed.isEmpty else { return [] }
    let found = Dictionary(
      try find(listed.map(\.digest), bodies, in: session).map { ($0.message.digest, $0) }
    ) { first, _ in first }
    return listed.compactMap { found[$0.digest] }
  }
}

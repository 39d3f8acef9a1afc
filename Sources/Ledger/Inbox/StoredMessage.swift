import Database
package import Purchases
import Signing
package import Time

package struct StoredMessage: Hashable, Sendable {
  package let message: InboxMessage
  package let app: App.ID
  package let bundleID: String
  package let environment: Environment
  package let signedAt: Timestamp?
  package let title: String

  package var claim: SubmissionMetadata { message.claim ?? SubmissionMetadata(environment: environment) }
}

extension InboxTable {
  /// Returns the messages of these digests, in their order.
  ///
  /// A missing one is an error: otherwise it would be lost silently.
  static func messages(
    _ digests: [Digest], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [StoredMessage] {
    let messages = try find(digests, bodies, in: session)
    let found = Set(messages.map(\.message.digest))
    if let missing = digests.first(where: { !found.contains($0) }) {
      throw DatabaseError(.column, "the stored body of the message \(missing.hex) is missing")
    }
    return messages
  }

  /// Returns the existing messages of these digests, in the order of the digests.
  static func find(
    _ digests: [Digest], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [StoredMessage] {
    let rows = try session.query(
      """
      SELECT inbox.digest, inbox.received_at, inbox.kind, app, inbox.environment, signed_at, title, bodies.body,
        COALESCE(bundle_id, '') AS bundle_id, claims.environment AS claimed_environment, claims.user_id, claims.is_stored
      FROM \(Table.inbox.each(digests.map(\.bytes)))
        STRAIGHT_JOIN \(Table.bodies.by("PRIMARY")) ON bodies.month = inbox.month AND bodies.digest = inbox.digest
        LEFT JOIN apps ON apps.id = inbox.app LEFT JOIN \(Table.claims.by("PRIMARY")) ON claims.digest = inbox.digest
      ORDER BY inbox.digest
      """)
    return try messages(of: rows, bodies, in: session)
  }

  private static func messages(
    of rows: [Row], _ bodies: BodyVault, in session: borrowing Session
  ) throws(DatabaseError) -> [StoredMessage] {
    let opened = try rows.map { row throws(DatabaseError) in
      guard let digest = Digest(bytes: try row.bytes("digest")),
        let kind = InboxMessage.Kind(rawValue: try row.int("kind"))
      else { throw DatabaseError(.column, "an inbox row that this build cannot read") }
      let (bytes, receivedAt) = (try row.bytes("body"), try row.milliseconds("received_at"))
      let body = try BodyDamage.named(digest) { () throws(BodyDamage) in
        try bodies.open(bytes, of: digest, receivedAt: receivedAt)
      }
      return (row, digest, kind, receivedAt, body)
    }
    let headers = try headers(opened.reduce(into: []) { $0.formUnion($1.4.headers) }, in: session)
    return try opened.map { row, digest, kind, receivedAt, opened throws(DatabaseError) in
      let body = try BodyDamage.named(digest) { () throws(BodyDamage) in try opened.body(with: headers) }
      return StoredMessage(
        message: InboxMessage(
          kind: kind, body: body, claim: try ClaimTable.claim(of: row), receivedAt: receivedAt, digest: digest),
        app: App.ID(try row.int("app")), bundleID: try row.text("bundle_id"),
        environment: try Environment(code: row.int("environment")),
        signedAt: try row.optionalMilliseconds("signed_at"), title: try row.text("title"))
    }
  }

  private static func headers(
    _ digests: Set<Digest>, in session: borrowing Session
  ) throws(DatabaseError) -> [Digest: [UInt8]] {
    var headers: [Digest: [UInt8]] = [:]
    // V1 bodies have no headers. Without this check, servers may read the whole table for an empty list.
    guard !digests.isEmpty else { return headers }
    let list = digests.map(\.bytes)
    for row in try session.query("SELECT digest, header FROM headers WHERE digest IN (\(list: list))") {
      if let digest = Digest(bytes: try row.bytes("digest")) { headers[digest] = try row.bytes("header") }
    }
    return headers
  }
}

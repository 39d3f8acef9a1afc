import Database
import Purchases
import Signing
import Time

package enum InboxTable {
  private static let insertMessage = BulkInsert(
    into: """
      INSERT INTO inbox (digest, month, received_at, arrival, kind, app, environment, signed_at, title, size) VALUES
      """,
    then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)", repeatsLast: true)

  private static let insertBody = BulkInsert(
    into: "INSERT INTO bodies (month, digest, body) VALUES", then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)")

  private static let insertHeader = BulkInsert(
    into: "INSERT INTO headers (digest, header) VALUES", then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)")

  /// Writes the new messages, and returns the digests of the existing ones.
  ///
  /// `arrival` marks this attempt's rows.
  static func insert(
    _ messages: [(InboxMessage, LedgerEntry.AcceptedMessage)], arrival: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) -> Set<Digest> {
    guard !messages.isEmpty else { return [] }
    let rows: [[SQLValue]] = messages.map { message, acceptance in
      [
        .bytes(message.digest.bytes), .integer(Month(message.receivedAt).number),
        .integer(message.receivedAt.sinceEpoch), .bytes(arrival), .integer(Int64(message.kind.rawValue)),
        .integer(Int64(acceptance.app.number)), .integer(Int64(acceptance.findings.environment.code)),
        (acceptance.signedAt?.sinceEpoch).sqlValue, .text(acceptance.title.cut(to: 128)),
        .integer(Int64(message.body.count)),
      ]
    }
    let affected = try session.insert(insertMessage, rows: rows.inKeyOrder(columns: 1))
    if affected == UInt64(messages.count) { return [] }
    var known: Set<Digest> = []
    let digests = messages.map(\.0.digest.bytes)
    for row in try session.query(
      "SELECT digest FROM \(Table.inbox.by("PRIMARY")) WHERE digest IN (\(list: digests)) AND arrival <> \(arrival)")
    {
      if let digest = Digest(bytes: try row.bytes(0)) { known.insert(digest) }
    }
    return known
  }

  static func known(_ digests: [Digest], in session: borrowing Session) throws(DatabaseError) -> Set<Digest> {
    try Table.inbox.known(digests, in: session)
  }

  /// Writes the bodies of new messages, and the certificate headers that this process has not written yet.
  static func insertBodies(
    _ bodies: [(message: InboxMessage, stored: BodyVault.Stored)], knownHeaders: Set<Digest>,
    in session: borrowing Session
  ) throws(DatabaseError) {
    var headers: [Digest: [UInt8]] = [:]
    for (_, stored) in bodies {
      for (digest, header) in stored.headers where !knownHeaders.contains(digest) { headers[digest] = header }
    }
    try insertMissing(headers, in: session)
    let rows: [[SQLValue]] = bodies.map { message, stored in
      [.integer(Month(message.receivedAt).number), .bytes(message.digest.bytes), .bytes(stored.bytes)]
    }
    _ = try session.insert(insertBody, rows: rows.inKeyOrder(columns: 2))
  }

  /// Writes the missing headers.
  ///
  /// An INSERT would lock the shared row of a header even if it exists, and strangers' messages would delay Apple's.
  private static func insertMissing(
    _ headers: [Digest: [UInt8]], in session: borrowing Session
  ) throws(DatabaseError) {
    guard !headers.isEmpty else { return }
    let known = try Table.headers.known(headers.keys, in: session)
    let rows: [[SQLValue]] = headers.filter { !known.contains($0.key) }.map {
      [.bytes($0.key.bytes), .bytes($0.value)]
    }
    _ = try session.insert(insertHeader, rows: rows.inKeyOrder(columns: 1))
  }
}

package import Database
package import Signing

/// Takes secrets out of what is kept, page by page.
///
/// A message keeps its digest, which is of what was received: heard again it is still a duplicate. Only its body, its
/// title or its reason changes.
package struct SecretSearchPage: Sendable {
  /// A text or body that may hold secrets.
  package enum Kept: Sendable {
    /// The body of a message that was set aside.
    case refused(QuarantinedMessage)
    /// An accepted message, which is to be read again by a rebuild.
    case message(StoredMessage)
    /// What a refusal says, and which app it names.
    case text(String)
    case userID(String)
  }

  /// Returns what is to stand in the place of something that is kept; nil when it may stay.
  package typealias Redact = @Sendable (Kept) -> [UInt8]?

  private let redact: Redact
  let unopened: [Digest]

  /// - Parameter unopened: the marks of the shared secrets that do not open here.
  package init(unopened: [Digest] = [], redact: @escaping Redact) {
    self.unopened = unopened
    self.redact = redact
  }

  /// What a page came to.
  package struct Outcome: Hashable, Sendable {
    package var searched = 0
    package var changed = 0
    /// Of those that were searched, how many could not be read, or not be written without their secrets.
    package var skipped = 0
    /// The key of the last row; nil when there was none left.
    package var position: [UInt8]?
  }

  private static let rows = 200

  /// Searches the next page and changes nothing; to be called outside of a transaction, since it computes for long.
  ///
  /// Its position is nil when the part is finished. Returns nil when other secrets than `secrets` are registered by now.
  package func search(
    _ part: SecretSearchTable.Part, for secrets: Digest, in session: borrowing Session
  ) throws(DatabaseError) -> Found? {
    guard try SecretSearchTable.registered(in: session) == secrets else { return nil }
    let progress = try SecretSearchTable.progress(of: part, in: session).flatMap { $0.secrets == secrets ? $0 : nil }
    let after = progress?.position ?? []
    guard progress?.finishedAt == nil else { return Found(part: part, after: after, isFinished: true) }
    return try search(part, after: after, in: session)
  }

  /// Searches a page, wherever the search has come.
  package func search(
    _ part: SecretSearchTable.Part, after position: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) -> Found {
    var found = Found(part: part, after: position)
    switch part {
    case .inbox: try inbox(&found, session)
    case .quarantine: try quarantine(&found, session)
    case .claims: try claims(&found, session)
    }
    found.outcome.changed = found.changes.count
    return found
  }

  /// In the order of the bodies on disk; the position is `YYYYMM` and the digest.
  private func inbox(_ found: inout Found, _ session: borrowing Session) throws(DatabaseError) {
    let month = Int64(String(decoding: found.after.prefix(6), as: UTF8.self)) ?? 0
    let last = Array(found.after.dropFirst(6))
    let rows = try session.query(
      """
      SELECT b.month, b.digest, COALESCE(i.size, 0) AS size FROM bodies b LEFT JOIN inbox i ON i.digest = b.digest
      WHERE b.month > \(month) OR b.month = \(month) AND b.digest > \(last)
      ORDER BY b.month, b.digest LIMIT \(Self.rows)
      """)
    let (digests, end) = try Self.page(of: rows)
    guard let end else { return }
    let (messages, unreadable) = try Self.readable(digests) { digests throws(DatabaseError) in
      try InboxTable.find(digests, in: session)
    }
    found.outcome = Outcome(
      searched: digests.count, skipped: unreadable,
      position: Array("\(try end.int64("month"))".utf8) + (try end.bytes("digest")))
    for stored in messages {
      let (body, title) = (redact(.message(stored)), redact(.text(stored.title)))
      if body != nil || title != nil { found.changes.append(.message(stored, body: body, title: title)) }
    }
  }

  private func quarantine(_ found: inout Found, _ session: borrowing Session) throws(DatabaseError) {
    let rows = try session.query(
      "SELECT digest, size FROM quarantine WHERE digest > \(found.after) ORDER BY digest LIMIT \(Self.rows)")
    let (digests, end) = try Self.page(of: rows)
    guard let end else { return }
    let (messages, unreadable) = try Self.readable(digests) { digests throws(DatabaseError) in
      try QuarantineTable.find(digests, in: session)
    }
    found.outcome = Outcome(searched: digests.count, skipped: unreadable, position: try end.bytes("digest"))
    for kept in messages {
      let body = redact(.refused(kept))
      let (detail, app) = (redact(.text(kept.detail)), redact(.text(kept.claimedApp)))
      if body != nil || detail != nil || app != nil {
        found.changes.append(.refused(kept, body: body, detail: detail, app: app))
      }
    }
  }

  private func claims(_ found: inout Found, _ session: borrowing Session) throws(DatabaseError) {
    let rows = try session.query(
      """
      SELECT digest, user_id FROM claims WHERE digest > \(found.after) AND user_id IS NOT NULL
      ORDER BY digest LIMIT \(Self.rows)
      """)
    guard let end = rows.last else { return }
    found.outcome = Outcome(searched: rows.count, position: try end.bytes("digest"))
    for row in rows {
      guard let userID = try? row.text("user_id") else {
        found.outcome.skipped += 1
        continue
      }
      if redact(.userID(userID)) != nil { found.changes.append(.userID(userID, digest: try row.bytes("digest"))) }
    }
  }

  /// Returns the messages that can be read, and how many cannot: one that is damaged must not hide secrets in others.
  private static func readable<Message>(
    _ digests: [Digest], _ find: ([Digest]) throws(DatabaseError) -> [Message]
  ) throws(DatabaseError) -> (messages: [Message], unreadable: Int) {
    do throws(DatabaseError) {
      let messages = try find(digests)
      return (messages, 0)
    } catch {
      guard error.code == .column else { throw error }
    }
    var (messages, unreadable): ([Message], Int) = ([], 0)
    for digest in digests {
      do throws(DatabaseError) { messages += try find([digest]) } catch {
        guard error.code == .column else { throw error }
        unreadable += 1
      }
    }
    return (messages, unreadable)
  }

  /// The first of the rows, as many as may be in memory at once, with the last of them.
  private static func page(of rows: [Row]) throws(DatabaseError) -> ([Digest], Row?) {
    let sizes = try rows.map { row throws(DatabaseError) in try row.int("size") }
    var (digests, end): ([Digest], Row?) = ([], nil)
    for row in rows.prefix(BodyPage.count(of: sizes)) {
      guard let digest = Digest(bytes: try row.bytes("digest")) else { continue }
      digests.append(digest)
      end = row
    }
    return (digests, end)
  }
}

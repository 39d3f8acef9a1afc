package import Database
package import Signing
package import Time

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
  private let unopened: [Digest]

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

  /// Searches the next page, changes it and notes it; its position is nil when the part is finished.
  ///
  /// Returns nil, and does nothing, when other secrets than `secrets` are registered by now: two processes that search for
  /// different ones would each begin anew forever.
  package func step(
    _ part: SecretSearchTable.Part, for secrets: Digest, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> Outcome? {
    guard try SecretSearchTable.registered(in: session) == secrets else { return nil }
    let progress = try SecretSearchTable.begin(part, for: secrets, at: now, in: session)
    guard progress.finishedAt == nil else { return Outcome() }
    if part == SecretSearchTable.Part.allCases.first, progress.position.isEmpty {
      try SecretSearchTable.forgetUnopened(in: session)
    }
    // On each page: another process, with other keys, may have begun.
    try SecretSearchTable.note(unopened: unopened, for: secrets, at: now, in: session)
    let outcome = try search(part, after: progress.position, changes: true, in: session)
    try SecretSearchTable.note(
      part, searched: outcome.searched, changed: outcome.changed, skipped: outcome.skipped,
      position: outcome.position, for: secrets, at: now, in: session)
    return outcome
  }

  /// Searches a page and changes nothing.
  package func look(
    _ part: SecretSearchTable.Part, after position: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) -> Outcome {
    try search(part, after: position, changes: false, in: session)
  }

  private func search(
    _ part: SecretSearchTable.Part, after position: [UInt8], changes: Bool, in session: borrowing Session
  ) throws(DatabaseError) -> Outcome {
    switch part {
    case .inbox: try inbox(after: position, changes, session)
    case .quarantine: try quarantine(after: position, changes, session)
    case .claims: try claims(after: position, changes, session)
    }
  }

  /// In the order of the bodies on disk; the position is `YYYYMM` and the digest.
  private func inbox(
    after position: [UInt8], _ changes: Bool, _ session: borrowing Session
  ) throws(DatabaseError) -> Outcome {
    let month = Int64(String(decoding: position.prefix(6), as: UTF8.self)) ?? 0
    let last = Array(position.dropFirst(6))
    let rows = try session.query(
      """
      SELECT b.month, b.digest, COALESCE(i.size, 0) AS size FROM bodies b LEFT JOIN inbox i ON i.digest = b.digest
      WHERE b.month > \(month) OR b.month = \(month) AND b.digest > \(last)
      ORDER BY b.month, b.digest LIMIT \(Self.rows)
      """)
    let (digests, end) = try Self.page(of: rows)
    guard let end else { return Outcome() }
    var outcome = Outcome(
      searched: digests.count, position: Array("\(try end.int64("month"))".utf8) + (try end.bytes("digest")))
    // All is decided before the first row is changed: rows are locked from then on.
    var decided: [(message: InboxMessage, body: [UInt8]?, title: [UInt8]?)] = []
    let (messages, unreadable) = try Self.readable(digests) { digests throws(DatabaseError) in
      try InboxTable.find(digests, in: session)
    }
    outcome.skipped = unreadable
    for stored in messages {
      let (body, title) = (redact(.message(stored)), redact(.text(stored.title)))
      if body != nil || title != nil { decided.append((stored.message, body, title)) }
    }
    outcome.changed = decided.count
    for (message, body, title) in decided where changes {
      try Self.write(noting: &outcome) { () throws(DatabaseError) in
        if let body {
          let compact = CompactBody(body)
          try InboxTable.replaceBody(of: message, with: compact, size: body.count, in: session)
        }
        if let title {
          let text = String(decoding: title, as: UTF8.self).cut(to: 128)
          _ = try session.execute("UPDATE inbox SET title = \(text) WHERE digest = \(message.digest.bytes)")
        }
      }
    }
    return outcome
  }

  private func quarantine(
    after position: [UInt8], _ changes: Bool, _ session: borrowing Session
  ) throws(DatabaseError) -> Outcome {
    let rows = try session.query(
      "SELECT digest, size FROM quarantine WHERE digest > \(position) ORDER BY digest LIMIT \(Self.rows)")
    let (digests, end) = try Self.page(of: rows)
    guard let end else { return Outcome() }
    var outcome = Outcome(searched: digests.count, position: try end.bytes("digest"))
    var decided: [(kept: QuarantinedMessage, body: [UInt8]?, detail: [UInt8]?, app: [UInt8]?)] = []
    let (messages, unreadable) = try Self.readable(digests) { digests throws(DatabaseError) in
      try QuarantineTable.find(digests, in: session)
    }
    outcome.skipped = unreadable
    for kept in messages {
      let body = redact(.refused(kept))
      let (detail, app) = (redact(.text(kept.detail)), redact(.text(kept.claimedApp)))
      if body != nil || detail != nil || app != nil { decided.append((kept, body, detail, app)) }
    }
    outcome.changed = decided.count
    var sizes: [String: Int] = [:]
    for (kept, body, detail, app) in decided where changes {
      try Self.write(noting: &outcome) { () throws(DatabaseError) in
        sizes[kept.source, default: 0] += try QuarantineTable.replace(
          kept, body: body, detail: detail, app: app, in: session)
      }
    }
    try QuarantineUsageTable.change(bytes: sizes, in: session)
    return outcome
  }

  private func claims(
    after position: [UInt8], _ changes: Bool, _ session: borrowing Session
  ) throws(DatabaseError) -> Outcome {
    let rows = try session.query(
      """
      SELECT digest, user_id FROM claims WHERE digest > \(position) AND user_id IS NOT NULL
      ORDER BY digest LIMIT \(Self.rows)
      """)
    guard let end = rows.last else { return Outcome() }
    var outcome = Outcome(searched: rows.count, position: try end.bytes("digest"))
    for row in rows {
      guard let userID = try? row.text("user_id") else {
        outcome.skipped += 1
        continue
      }
      guard redact(.userID(userID)) != nil else { continue }
      outcome.changed += 1
      // Nobody is named: what would be left of it, others may have too.
      if changes {
        _ = try session.execute("UPDATE claims SET user_id = NULL WHERE digest = \(try row.bytes("digest"))")
      }
    }
    return outcome
  }

  /// Writes one row; one that cannot be written is counted, and must not keep secrets in all others.
  private static func write(noting outcome: inout Outcome, _ body: () throws(DatabaseError) -> Void)
    throws(DatabaseError)
  {
    do throws(DatabaseError) { try body() } catch {
      guard error.isOfTheData else { throw error }
      outcome.changed -= 1
      outcome.skipped += 1
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

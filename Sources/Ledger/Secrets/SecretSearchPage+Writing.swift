package import Database
package import Signing
package import Time

extension SecretSearchPage {
  /// What was found on a page.
  package struct Found: Sendable {
    let part: SecretSearchTable.Part
    /// Where the search stood when the page was read.
    let after: [UInt8]
    /// Counts as if every change can be written.
    package var outcome = Outcome()
    var changes: [Change] = []
  }

  enum Change {
    case message(InboxMessage, body: [UInt8]?, title: [UInt8]?)
    case refused(QuarantinedMessage, body: [UInt8]?, detail: [UInt8]?, app: [UInt8]?)
    case userID(String, digest: [UInt8])
  }

  /// Writes what was found on a page, and notes it.
  ///
  /// Returns nil, and changes no message, when other secrets than `secrets` are registered by now: two processes that search
  /// for different ones would begin anew forever. If another process wrote this page first, nothing is written, and the
  /// search continues after the page.
  package func write(
    _ found: Found, for secrets: Digest, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> Outcome? {
    guard try SecretSearchTable.registered(in: session) == secrets else { return nil }
    let progress = try SecretSearchTable.begin(found.part, for: secrets, at: now, in: session)
    // Again, now that no other process can write: its secrets may be newer, and what it redacted must stay.
    guard try SecretSearchTable.registered(in: session) == secrets else { return nil }
    guard progress.finishedAt == nil else { return Outcome() }
    guard progress.position == found.after else { return Outcome(position: progress.position) }
    if found.part == SecretSearchTable.Part.allCases.first, progress.position.isEmpty {
      try SecretSearchTable.forgetUnopened(in: session)
    }
    // On each page: another process, with other keys, may have begun.
    try SecretSearchTable.note(unopened: unopened, for: secrets, at: now, in: session)
    var outcome = found.outcome
    var sizes: [String: Int] = [:]
    for change in found.changes {
      try Self.write(noting: &outcome) { () throws(DatabaseError) in try Self.write(change, sizes: &sizes, session) }
    }
    try QuarantineUsageTable.change(bytes: sizes, in: session)
    try SecretSearchTable.note(
      found.part, searched: outcome.searched, changed: outcome.changed, skipped: outcome.skipped,
      position: outcome.position, for: secrets, at: now, in: session)
    return outcome
  }

  /// - Parameter sizes: how much longer what is in quarantine is by this, by its source.
  private static func write(
    _ change: Change, sizes: inout [String: Int], _ session: borrowing Session
  ) throws(DatabaseError) {
    switch change {
    case .message(let message, let body, let title):
      if let body {
        let compact = CompactBody(body)
        try InboxTable.replaceBody(of: message, with: compact, size: body.count, in: session)
      }
      if let title {
        let text = String(decoding: title, as: UTF8.self).cut(to: 128)
        _ = try session.execute("UPDATE inbox SET title = \(text) WHERE digest = \(message.digest.bytes)")
      }
    case .refused(let kept, let body, let detail, let app):
      sizes[kept.source, default: 0] += try QuarantineTable.replace(
        kept, body: body, detail: detail, app: app, in: session)
    case .userID(let userID, let digest):
      // Nobody is named: what would be left of it, others may have too.
      _ = try session.execute("UPDATE claims SET user_id = NULL WHERE digest = \(digest) AND user_id = \(userID)")
    }
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
}

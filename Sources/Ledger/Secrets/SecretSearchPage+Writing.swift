package import Database
package import Signing
package import Time

extension SecretSearchPage {
  /// What was found on a page.
  package struct Found: Sendable {
    let part: SecretSearchTable.Part
    /// Where the search stood when the page was read.
    let after: [UInt8]
    /// Whether the part was finished then, and nothing read.
    package var isFinished = false
    /// Counts as if every change can be written.
    package var outcome = Outcome()
    var changes: [Change] = []
  }

  enum Change {
    case message(StoredMessage, body: [UInt8]?, title: [UInt8]?)
    case refused(QuarantinedMessage, body: [UInt8]?, detail: [UInt8]?, app: [UInt8]?)
    case userID(String, digest: [UInt8])
  }

  /// Writes what was found on a page, and notes it.
  ///
  /// Returns nil, and changes no message, when other secrets than `secrets` are registered by now: two processes that search
  /// for different ones would begin anew forever. If another process wrote this page first, nothing is written, and the
  /// search continues after the page. If what was found has changed since it was read, it stays as it is, and the search
  /// continues before the page.
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
    var (sizes, isCurrent): ([String: Int], Bool) = ([:], true)
    for change in found.changes {
      let written = try Self.write(change, sizes: &sizes, session)
      if written != .done { outcome.changed -= 1 }
      if written == .failed { outcome.skipped += 1 }
      if written == .other { isCurrent = false }
    }
    if !isCurrent { (outcome.searched, outcome.skipped, outcome.position) = (0, 0, found.after) }
    try QuarantineUsageTable.change(bytes: sizes, in: session)
    try SecretSearchTable.note(
      found.part, searched: outcome.searched, changed: outcome.changed, skipped: outcome.skipped,
      position: outcome.position, for: secrets, at: now, in: session)
    return outcome
  }

  /// What became of a change, whose row a replay, a purge or another process may have changed or taken away.
  private enum Written { case done, gone, other, failed }

  /// Writes one row; one that cannot be written must not keep secrets in all others.
  ///
  /// - Parameter sizes: how much longer what is in quarantine is by this, by its source.
  private static func write(
    _ change: Change, sizes: inout [String: Int], _ session: borrowing Session
  ) throws(DatabaseError) -> Written {
    do throws(DatabaseError) { return try replace(change, sizes: &sizes, session) } catch {
      guard error.isOfTheData else { throw error }
      return .failed
    }
  }

  private static func replace(
    _ change: Change, sizes: inout [String: Int], _ session: borrowing Session
  ) throws(DatabaseError) -> Written {
    switch change {
    case .message(let stored, let body, let title):
      guard let current = try InboxTable.lock(stored.message.digest, in: session) else { return .gone }
      guard current == stored else { return .other }
      if let body {
        let compact = CompactBody(body)
        try InboxTable.replaceBody(of: stored.message, with: compact, size: body.count, in: session)
      }
      if let title {
        let text = String(decoding: title, as: UTF8.self).cut(to: 128)
        _ = try session.execute("UPDATE inbox SET title = \(text) WHERE digest = \(stored.message.digest.bytes)")
      }
    case .refused(let kept, let body, let detail, let app):
      guard let current = try QuarantineTable.lock(kept.message.digest, in: session) else { return .gone }
      guard current == kept else { return .other }
      sizes[kept.source, default: 0] += try QuarantineTable.replace(
        kept, body: body, detail: detail, app: app, in: session)
    case .userID(let userID, let digest):
      // Nobody is named: what would be left of it, others may have too.
      let outcome = try session.execute(
        "UPDATE claims SET user_id = NULL WHERE digest = \(digest) AND user_id = \(userID)")
      if outcome.affectedRows == 0 { return .gone }
    }
    return .done
  }
}

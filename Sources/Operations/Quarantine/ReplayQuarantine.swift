package import Database
package import Intake
package import Ledger
package import Signing
package import Time

/// Reads refused messages again, with the present apps and roots.
///
/// Accepted ones move to the inbox.
package struct ReplayQuarantine: Sendable {
  package enum Selection: Sendable {
    case all
    case code(String)
    case digest(DigestPrefix)

    var code: String? { if case .code(let code) = self { code } else { nil } }
    var prefix: DigestPrefix? { if case .digest(let prefix) = self { prefix } else { nil } }

    var text: String {
      switch self {
      case .all: "--all"
      case .code(let code): "--code \(code)"
      case .digest(let prefix): prefix.text
      }
    }
  }

  package enum Fate: Sendable {
    case accepted(title: String)
    case stays(code: String, detail: String, isForwarded: Bool)
  }

  package struct Summary: Hashable, Sendable {
    package var accepted = 0
    package var refused = 0
    /// The number of refused messages that are forwarded to the app's destination now.
    package var forwarded = 0

    package var text: String {
      "\(accepted) accepted, \(refused) stay" + (forwarded > 0 ? ", \(forwarded) of them forwarded now" : "")
    }
  }

  private static let page = 200

  private let selection: Selection
  private let intake: IngestDecider
  private let keys: Keyring
  private let ledger: LedgerStore

  package init(_ selection: Selection, readBy intake: IngestDecider, _ keys: Keyring, into ledger: LedgerStore) {
    self.selection = selection
    self.intake = intake
    self.keys = keys
    self.ledger = ledger
  }

  /// Reports the result for each message.
  ///
  /// Throws `NoSuchMessage` for an unknown digest.
  package func plan(
    at now: Timestamp, on connection: Connection, telling tell: (Digest, Fate) throws -> Void
  ) async throws -> Summary {
    var summary = Summary()
    try await walk(now, connection) { outcomes, _ in try Self.tell(outcomes, [], &summary, tell) }
    try refuse(summary)
    return summary
  }

  /// Moves accepted messages and forwards denied ones, page by page.
  ///
  /// A cancelled task stops after a page, and repetition changes nothing. The single audit entry is in the last page's
  /// transaction, or follows a cancellation.
  package func apply(
    by author: AuditContext, clock: WallClock, on connection: Connection, telling tell: (Digest, Fate) throws -> Void
  ) async throws -> Summary {
    var (summary, isNoted) = (Summary(), false)
    try await walk(clock.now(), connection) { outcomes, isLast in
      let note = isLast ? author : nil
      let sent = try await write(outcomes, after: summary, note, at: clock.now(), connection)
      isNoted = isLast
      try Self.tell(outcomes, sent, &summary, tell)
    }
    try refuse(summary)
    if !isNoted {
      let (all, now) = (summary, clock.now())
      try await connection.transaction { session throws(DatabaseError) in
        try self.note(all, by: author, at: now, in: session)
      }
    }
    return summary
  }

  private func walk(
    _ now: Timestamp, _ connection: Connection,
    _ body: (_ page: [(Digest, QuarantineReading.Outcome)], _ isLast: Bool) async throws -> Void
  ) async throws {
    let directory = try await connection.read { [keys] session throws(DatabaseError) in
      try AppTable.directory(with: keys, in: session)
    }
    let reading = QuarantineReading(intake: intake, directory: directory, startedAt: now)
    var last: (Timestamp, Digest)?
    while !Task.isCancelled {
      let cursor = last
      let (page, unread, end, isLast) = try await connection.read {
        [selection, bodies = ledger.bodies] session throws(DatabaseError) in
        let listed = try QuarantineTable.list(
          after: cursor, code: selection.code, digestPrefix: selection.prefix?.bytes, limit: Self.page, in: session)
        // Long bodies, which any sender can submit, are not read all together.
        let some = Array(listed.prefix(BodyPage.count(of: listed.map(\.size))))
        let (messages, unreadable) = try BodyPage.read(some) { part throws(DatabaseError) in
          try QuarantineTable.messages(of: part, bodies, in: session)
        }
        return (messages, unreadable, some.last, listed.count < Self.page && some.count == listed.count)
      }
      guard let end else { break }
      last = (end.receivedAt, end.digest)
      let outcomes =
        page.map { ($0.message.digest, reading.outcome(of: $0)) }
        + unread.map { ($0.digest, QuarantineReading.Outcome.unreadable($1)) }
      try await body(outcomes.filter { selection.prefix?.matches($0.0) ?? true }, isLast)
    }
  }

  /// Writes to the inbox first, then deletes from quarantine: after an interruption it is repeated without loss.
  ///
  /// - Parameter author: of the last page, whose transaction has the audit entry.
  /// - Returns: The refused messages that this call forwarded.
  private func write(
    _ outcomes: [(Digest, QuarantineReading.Outcome)], after before: Summary, _ author: AuditContext?,
    at now: Timestamp, _ connection: Connection
  ) async throws -> Set<Digest> {
    var entries: [LedgerEntry] = []
    var refusals: [(Digest, LedgerEntry.QuarantineReason)] = []
    var setAside: [LedgerEntry] = []
    var unread = 0
    for (digest, outcome) in outcomes {
      switch outcome {
      case .accepted(let entry): entries.append(entry)
      case .refused(let refusal, let entry):
        refusals.append((digest, refusal))
        if let entry { setAside.append(entry) }
      case .unreadable: unread += 1
      }
    }
    if !entries.isEmpty { _ = try await ledger.append(entries) }
    let sent = try await ledger.forward(setAside: setAside)
    var all = before
    all.accepted += entries.count
    all.refused += refusals.count + unread
    all.forwarded += sent.count
    let (released, noted, summary) = (entries.map(\.message.digest), refusals, all)
    try await connection.transaction { session throws(DatabaseError) in
      for (digest, refusal) in noted { try QuarantineTable.noteReplay(digest, refusal, in: session) }
      if let author { try note(summary, by: author, at: now, in: session) }
      try QuarantineTable.release(released, in: session)
    }
    return sent
  }

  private func note(
    _ summary: Summary, by author: AuditContext, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    guard summary.accepted + summary.refused > 0 else { return }
    try author.note(
      "quarantine.replay", of: "quarantine", "\(selection.text): \(summary.text)", at: now, in: session)
  }

  private func refuse(_ summary: Summary) throws(NoSuchMessage) {
    guard let prefix = selection.prefix, summary.accepted + summary.refused == 0, !Task.isCancelled else { return }
    throw NoSuchMessage(where: "quarantine", prefix: prefix.text)
  }

  private static func tell(
    _ outcomes: [(Digest, QuarantineReading.Outcome)], _ sent: Set<Digest>, _ summary: inout Summary,
    _ tell: (Digest, Fate) throws -> Void
  ) throws {
    summary.forwarded += sent.count
    for (digest, outcome) in outcomes {
      switch outcome {
      case .accepted(let entry):
        summary.accepted += 1
        let title = if case .accepted(let acceptance) = entry.content { acceptance.title } else { "" }
        try tell(digest, .accepted(title: title))
      case .refused(let refusal, _):
        summary.refused += 1
        try tell(
          digest, .stays(code: refusal.code, detail: refusal.detail, isForwarded: sent.contains(digest)))
      case .unreadable(let reason):
        summary.refused += 1
        try tell(digest, .stays(code: "bodyUnreadable", detail: reason, isForwarded: false))
      }
    }
  }
}

package import Database
package import Ledger
package import Purchases
package import Time

/// Resends dead messages of the outbox, or gives up waiting ones.
///
/// Repetition changes nothing.
package struct ReplayOrGiveUp: Sendable {
  package enum Kind: Sendable {
    /// Makes dead messages wait again, at their old positions and for three more days.
    case replay
    /// Makes waiting messages dead, so that later ones are sent.
    case giveUp
  }

  private static let page = 500

  private let kind: Kind
  private let app: String?
  private let environment: Environment?
  private let prefix: DigestPrefix?
  private let filter: OutboxFilter

  /// - Parameters:
  ///   - app: only this app and environment. `nil` for all.
  ///   - prefix: only messages with this digest prefix. `nil` for all in the filter.
  package init(
    _ kind: Kind, app: String? = nil, _ environment: Environment? = nil, prefix: DigestPrefix? = nil,
    filter: OutboxFilter = OutboxFilter()
  ) {
    self.kind = kind
    self.app = app
    self.environment = environment
    self.prefix = prefix
    self.filter = filter
  }

  /// Returns the number of messages to change.
  ///
  /// Throws `NoSuchApp`, or `NoSuchMessage` for an unknown digest.
  package func plan(clock: WallClock, on connection: Connection) async throws -> Int {
    var count = 0
    try await walk(clock, connection) { count += $0.count }
    try refuse(found: count)
    return count
  }

  /// Changes the messages page by page, each page with its audit entry in one transaction.
  ///
  /// A cancelled task stops after a page.
  package func apply(
    by author: AuditContext, clock: WallClock, on connection: Connection
  ) async throws -> OutboxTable.Change {
    var all = OutboxTable.Change()
    try await walk(clock, connection) { sequences in
      guard !sequences.isEmpty else { return }
      let now = clock.now()
      let page = try await connection.transaction { session throws(DatabaseError) in
        try change(sequences, by: author, at: now, in: session)
      }
      all.changed += page.changed
      all.withoutRoom += page.withoutRoom
    }
    try refuse(found: all.changed + all.withoutRoom)
    return all
  }

  private func walk(
    _ clock: WallClock, _ connection: Connection, _ body: ([Int64]) async throws -> Void
  ) async throws {
    let places = try await OutboxPlace.all(app: app, environment, connection)
    guard !places.isEmpty else { return }
    let selection = selection(of: places, at: clock.now())
    var last = Int64(0)
    while !Task.isCancelled {
      let after = last
      let rows = try await connection.read { session throws(DatabaseError) in
        try OutboxTable.rows(selection, after: after, limit: Self.page, in: session)
      }
      guard let end = rows.last else { break }
      last = end.sequence
      try await body(rows.filter { prefix?.matches($0.message) ?? true }.map(\.sequence))
    }
  }

  private func selection(of places: [OutboxPlace], at now: Timestamp) -> OutboxTable.Selection {
    var selection = OutboxTable.Selection()
    filter.narrow(&selection, at: now)
    selection.destinations = places.map(\.destination.id)
    switch kind {
    case .replay: selection.states = [.dead]
    case .giveUp: selection.states = [.waiting]
    }
    selection.digestPrefix = prefix?.bytes
    return selection
  }

  private func change(
    _ sequences: [Int64], by author: AuditContext, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> OutboxTable.Change {
    var changed = OutboxTable.Change()
    switch kind {
    case .replay: changed = try OutboxTable.replay(sequences, at: now, in: session)
    case .giveUp: changed.changed = try OutboxTable.giveUp(sequences, at: now, in: session)
    }
    let which = prefix?.text ?? (filter.isEmpty ? "--all" : filter.summary)
    let what = "\(which): \(changed.changed) messages"
    switch kind {
    case .replay: try author.note("outbox.replay", of: "outbox", what, at: now, in: session)
    case .giveUp: try author.note("outbox.dead", of: "outbox", what, at: now, in: session)
    }
    return changed
  }

  private func refuse(found count: Int) throws {
    guard let prefix, count == 0, !Task.isCancelled else { return }
    switch kind {
    case .replay: throw NoSuchMessage(where: "what is dead in the outbox", prefix: prefix.text)
    case .giveUp: throw NoSuchMessage(where: "what waits in the outbox", prefix: prefix.text)
    }
  }
}

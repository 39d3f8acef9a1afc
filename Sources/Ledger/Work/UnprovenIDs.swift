package import Database
package import Purchases

extension HistoryJobTable {
  /// The maximum number of waiting unproven IDs of a kind in an app and environment.
  ///
  /// The count reads an index entry for each.
  package static let mostUnproven = 5_000

  /// The maximum number of such IDs in one submitted message that are looked up: one ID of a customer leads to all
  /// others.
  package static let mostUnverifiedOfMessage = 16

  /// Returns how many more IDs of an unproven kind may wait.
  static func room(for kind: Kind, in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) -> Int {
    let row = try session.query(
      """
      SELECT COUNT(*) AS waiting FROM (SELECT 1 FROM \(Table.work.by("in_order"))
        WHERE \(in: scope) AND kind = \(kind.rawValue) AND state = \(State.waiting.rawValue)
        LIMIT \(mostUnproven)) AS unproven
      """
    ).first
    return mostUnproven - (try row?.int("waiting") ?? 0)
  }

  /// Returns the IDs without signed data or a lookup because of proven data.
  static func unproven(
    _ ids: Set<String>, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var unproven = ids
    for ids in ids.sorted().parts() {
      unproven.subtract(try HistoryTable.stored(Set(ids), in: scope, session))
      unproven.subtract(try states(of: ids, in: scope, session).keys)
      let kind: SQL = "AND kind = \(Alias.Kind.transactionID.rawValue)"
      try session.read("alias", of: .aliases, ids, in: scope, kind) { row throws(DatabaseError) in
        unproven.remove(try row.text(0))
      }
    }
    return unproven
  }

  /// Returns the seeds without signed data or such a lookup, in order.
  ///
  /// A seed without an environment may be known in either.
  static func unproven(
    _ seeds: [TransactionReference], of app: App.ID, _ session: borrowing Session
  ) throws(DatabaseError) -> [TransactionReference] {
    var seeds = seeds
    for environment in [Environment.production, .sandbox] {
      func isThere(_ seed: TransactionReference) -> Bool { seed.environment == nil || seed.environment == environment }
      let ids = Set(seeds.filter(isThere).map(\.transactionID))
      guard !ids.isEmpty else { continue }
      let unproven = try unproven(ids, in: AppScope(app: app, environment: environment), session)
      seeds.removeAll { isThere($0) && !unproven.contains($0.transactionID) }
    }
    return seeds
  }
}

extension LedgerStore {
  /// Whether a lookup for an unproven message is possible soon, or is unnecessary because its IDs are known.
  package func hasRoom(
    for message: InboxMessage, _ findings: Findings, of app: App.ID
  ) async throws(DatabaseError) -> Bool {
    let unverified = findings.unverifiedSeeds
    guard !unverified.isEmpty, unverified.count == findings.seeds.count else { return true }
    return try await pool.read { session throws(DatabaseError) in
      let scope = AppScope(app: app, environment: unverified[0].environment ?? .production)
      if try HistoryJobTable.room(for: .unverifiedID, in: scope, session) > 0 { return true }
      if try !InboxTable.known([message.digest], in: session).isEmpty { return true }
      return try HistoryJobTable.unproven(unverified, of: app, session).isEmpty
    }
  }

  /// Returns the IDs without signed data or a lookup because of proven data, and whether more of them may wait.
  package func unproven(
    _ ids: Set<String>, of app: App.ID, in environment: Environment
  ) async throws(DatabaseError) -> (ids: Set<String>, haveRoom: Bool) {
    guard !ids.isEmpty else { return ([], true) }
    let scope = AppScope(app: app, environment: environment)
    return try await pool.read { session throws(DatabaseError) in
      (
        try HistoryJobTable.unproven(ids, in: scope, session),
        try HistoryJobTable.room(for: .unverifiedID, in: scope, session) > 0
      )
    }
  }
}

import Database
import Purchases
import Time

/// The IDs of new messages to look up at Apple, by queue.
struct ArrivedIDs {
  typealias Arrival = (app: App.ID, seed: TransactionReference, arrivedAt: Timestamp)

  private(set) var history: [Arrival] = []
  private(set) var unverified: [Arrival] = []

  /// Creates the queues.
  ///
  /// Call it after the proven data of the messages is written.
  ///
  /// - Parameter unasked: IDs in V1 bodies that have signed data here but no history.
  init(
    in messages: [(message: InboxMessage, app: App.ID, findings: Findings)], unasked: [AppScope: Set<String>],
    _ session: borrowing Session
  ) throws(DatabaseError) {
    var rooms: [AppScope: Int] = [:]
    for (message, app, findings) in messages {
      let scope = AppScope(app: app, environment: findings.environment)
      let claimed = findings.claimedOriginals.subtracting(unasked[scope] ?? [])
      let unproven = try HistoryJobTable.unproven(findings.unverifiedSeeds, of: app, session)
      let others = claimed.union(unproven.map(\.transactionID))
      var most = HistoryJobTable.mostUnverifiedOfMessage
      // A message that proves other data is stored in any case, so its IDs must not exceed the quota.
      if !unproven.isEmpty, unproven.count < findings.seeds.count {
        if rooms[scope] == nil { rooms[scope] = try HistoryJobTable.room(for: .unverifiedID, in: scope, session) }
        most = min(most, max(0, rooms[scope] ?? 0))
        rooms[scope, default: 0] -= min(most, unproven.count)
      }
      func arrival(_ seed: TransactionReference) -> Arrival { (app: app, seed: seed, arrivedAt: message.receivedAt) }
      history += findings.seeds.filter { !others.contains($0.transactionID) }.map(arrival)
      unverified += unproven.prefix(most).map(arrival)
    }
  }
}

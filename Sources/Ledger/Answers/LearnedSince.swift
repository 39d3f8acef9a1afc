package import Database
import Purchases
package import Time

extension LedgerStore {
  /// Whether any data about a customer came in since `instant`.
  ///
  /// Call it after the knowledge was read: a statement and its message are committed together.
  package static func learned(
    _ knowledge: CustomerStatements, since instant: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    if knowledge.histories.values.contains(where: { $0 >= instant }) { return true }
    if knowledge.unknown.values.contains(where: { $0.settledAt >= instant }) { return true }
    let messages = Set(knowledge.purchases.map(\.message)).union(knowledge.renewals.map(\.message))
    for digests in Array(messages).parts() {
      let found = try session.query(
        "SELECT 1 FROM \(Table.inbox.by("PRIMARY")) WHERE digest IN (\(list: digests)) AND received_at >= \(instant) LIMIT 1"
      )
      if !found.isEmpty { return true }
    }
    return false
  }
}

package import Database
package import JSON
import Ledger
import Mappings
package import Purchases
package import Time

/// Everything a ledger knows of an app in one environment, as whoever asks is told: folded, with statuses.
package struct KnownPurchases: Sendable {
  package let purchases: [Purchase]
  package let subscriptions: [Subscription]
  /// As many as happenings were told of.
  package let events: [MergedEvent]

  /// Reads the whole ledger, one originalTransactionId after the other, by the look-up that the service answers with.
  package init(of bundleID: String, in environment: Environment, _ pool: Pool) async throws {
    (purchases, subscriptions, events) = try await pool.read { session throws(DatabaseError) in
      guard let app = try AppTable.find(bundleID, in: session) else {
        throw DatabaseError(.misuse, "no app \(bundleID)")
      }
      var purchases: [Purchase] = []
      var subscriptions: [Subscription] = []
      var events: [MergedEvent] = []
      let rows = try session.query("SELECT DISTINCT CAST(original_transaction_id AS CHAR) FROM purchases ORDER BY 1")
      for row in rows {
        let id = try row.text(0)
        for dossier in try LedgerStore.dossiers(of: id, app: app, extent: .purchases, in: session)
        where dossier.environment == environment {
          // An id may lead to others too; each is read in its own turn.
          let statements = dossier.purchases.filter { $0.key.originalTransactionID == id }
          let folded = Purchase.fold(statements, rules: Vocabulary.embedded.purchases.rules)
          let key = SubscriptionKey(app: bundleID, environment: environment, originalTransactionID: id)
          let renewal = Resolved(
            dossier.renewals.filter { $0.key == key }, rules: Vocabulary.embedded.renewals.rules)
          if let subscription = Subscription(key: key, purchases: folded, renewal: renewal) {
            subscriptions.append(subscription)
          }
          purchases += folded
          events += MergedEvent.all(
            in: dossier.events.filter { $0.originalTransactionID == id }, purchases: folded)
        }
      }
      return (purchases, subscriptions, events)
    }
  }

  /// Against a world's truth; see `TruthComparison`.
  package func compared(
    with truth: [JSONObject], beyond: [JSONObject]? = nil, at now: Timestamp
  ) -> TruthComparison {
    TruthComparison(purchases, subscriptions, with: truth, beyond: beyond, at: now)
  }
}

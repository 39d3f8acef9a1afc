package import Database
import Purchases
package import Time

/// What was changed at Apple's by our own call, and is to be known here again.
package enum ChangedAtApple {
  /// Originals that are read at once.
  private static let page = 500

  /// Queues a look-up of each id, of its whole history: what a call changed may lie before the point where the last
  /// history ended.
  ///
  /// - Parameters:
  ///   - changedAt: an id that was looked up since then is left out.
  ///   - due: when Apple is asked at the earliest.
  package static func queue(
    _ ids: [String], in scope: Scope, changedAt: Milliseconds, due: Milliseconds, _ session: borrowing Session
  ) throws(DatabaseError) {
    guard !ids.isEmpty else { return }
    try WorkTable.askAgain(ids, in: scope, unlessDoneSince: changedAt, at: due, in: session)
    _ = try session.execute(
      """
      UPDATE histories SET revision = NULL WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
      AND original_transaction_id IN (\(list: ids))
      """)
  }

  /// The originalTransactionIds of subscriptions to a product that run beyond `instant`, in their order after `last`;
  /// beside them the last that was looked at, nil at the end.
  package static func subscribers(
    to productID: String, in scope: Scope, of app: App, beyond instant: Milliseconds, after last: String?,
    _ session: borrowing Session
  ) throws(DatabaseError) -> (originals: [String], last: String?) {
    var candidates: [String] = []
    for row in try session.query(
      """
      SELECT DISTINCT original_transaction_id FROM purchases WHERE app = \(scope.app.number)
      AND environment = \(scope.environment.code) AND original_transaction_id > \(last ?? "")
      AND product_id = \(productID) ORDER BY original_transaction_id LIMIT \(page)
      """)
    {
      candidates.append(try row.text(0))
    }
    let statements = try PurchaseTable.find(candidates, app: app, environment: scope.environment, in: session)
    let running = statements.filter { statement in
      let runs = statement.facts.date(.expiresDate).map { $0 > instant } ?? false
      return runs && statement.facts.text(.productId) == productID
    }
    return (Set(running.map(\.key.originalTransactionID)).sorted(), candidates.last)
  }
}

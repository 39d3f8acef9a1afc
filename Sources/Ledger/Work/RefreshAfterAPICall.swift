package import Database
import Purchases
package import Time

/// What was changed at Apple's by our own call, and is to be known here again.
package enum RefreshAfterAPICall {
  /// Queues a look-up of each id, of its whole history: what a call changed may lie before the point where the last
  /// history ended.
  ///
  /// - Parameters:
  ///   - changedAt: an id that was looked up since then is left out.
  ///   - due: when Apple is asked at the earliest.
  package static func queue(
    _ ids: [String], in scope: AppScope, changedAt: Timestamp, due: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) {
    guard !ids.isEmpty else { return }
    try HistoryJobTable.askAgain(ids, in: scope, unlessDoneSince: changedAt, at: due, in: session)
    _ = try session.execute(
      "UPDATE histories SET revision = NULL WHERE \(in: scope) AND original_transaction_id IN (\(list: ids))")
  }
}

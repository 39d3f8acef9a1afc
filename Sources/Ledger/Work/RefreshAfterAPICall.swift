package import Database
import Purchases
package import Time

/// The lookups of data that Switchyard's own call changed at Apple.
package enum RefreshAfterAPICall {
  /// Queues a lookup of each ID's whole history: a call may change data before the last revision.
  ///
  /// - Parameters:
  ///   - changedAt: IDs with a later lookup are skipped.
  ///   - due: the earliest time of the lookup.
  package static func queue(
    _ ids: [String], in scope: AppScope, changedAt: Timestamp, due: Timestamp, _ session: borrowing Session
  ) throws(DatabaseError) {
    guard !ids.isEmpty else { return }
    try HistoryJobTable.askAgain(ids, in: scope, unlessDoneSince: changedAt, at: due, in: session)
    _ = try session.execute(
      "UPDATE histories SET revision = NULL WHERE \(in: scope) AND original_transaction_id IN (\(list: ids))")
  }
}

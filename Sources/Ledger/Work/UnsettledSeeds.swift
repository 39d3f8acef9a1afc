package import Database
import Purchases
package import Time

extension HistoryJobTable {
  /// Returns the numbers of IDs with an unsettled history lookup.
  ///
  /// - Parameters:
  ///   - before: IDs that became known later do not count while they wait.
  ///   - unknown: IDs that Apple does not know count from then on.
  package static func unsettled(
    in scope: AppScope, createdBefore before: Timestamp, unknownSince unknown: Timestamp,
    _ session: borrowing Session
  ) throws(DatabaseError) -> (open: Int, failed: Int, unknown: Int) {
    let row = try session.query(
      """
      SELECT COALESCE(SUM(state = \(State.waiting.rawValue) AND is_again = 0 AND created_at < \(before)), 0) AS waiting,
        COALESCE(SUM(state = \(State.failed.rawValue)), 0) AS failed,
        COALESCE(SUM(state = \(State.unknown.rawValue) AND COALESCE(settled_at, 0) > \(unknown)), 0) AS strange
      FROM work WHERE \(in: scope) AND kind = \(Kind.history.rawValue)
      """
    ).first
    return (try row?.int("waiting") ?? 0, try row?.int("failed") ?? 0, try row?.int("strange") ?? 0)
  }
}

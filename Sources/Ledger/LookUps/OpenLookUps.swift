import Database
import Purchases
import Time

extension UnconfirmedChangeTable {
  static func open(
    of originals: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: PendingLookup] {
    var open: [String: PendingLookup] = [:]
    for ids in originals.parts() {
      for row in try session.query(
        """
        SELECT c.original_transaction_id AS id, c.since, c.because, c.message, MAX(w.reason) AS failure
        FROM claimed_changes c LEFT JOIN work w ON w.app = c.app AND w.environment = c.environment
        AND w.kind IN (\(list: HistoryJobTable.Kind.claimed.map(\.rawValue))) AND w.subject = c.original_transaction_id
        AND w.state = 0
        WHERE c.app = \(scope.app.number) AND c.environment = \(scope.environment.code)
        AND c.original_transaction_id IN (\(list: ids))
        GROUP BY c.app, c.environment, c.original_transaction_id
        """)
      {
        open[try row.text("id")] = PendingLookup(
          since: try row.milliseconds("since"), because: UnconfirmedChange(rawValue: try row.int("because")),
          message: try row.bytes("message"), failure: try row.optionalText("failure"))
      }
    }
    return open
  }
}

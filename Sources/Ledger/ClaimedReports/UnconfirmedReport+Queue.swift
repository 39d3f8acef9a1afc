import Database
import Purchases
import Signing
import Time

extension UnconfirmedChangeTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO claimed_changes (app, environment, original_transaction_id, since, latest_at, changes, because, message,
        line) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        latest_at = GREATEST(latest_at, VALUES(latest_at)), changes = changes + VALUES(changes),
        because = because | VALUES(because), message = VALUES(message), line = IF(VALUES(line) = '', line, VALUES(line))
      """)

  /// Opens a lookup for each report.
  ///
  /// A report of only receipts waits among the requested lookups. An open lookup also covers the new report, unless it
  /// asked Apple before: then another follows.
  static func queue(_ reports: [UnconfirmedReport], in session: borrowing Session) throws(DatabaseError) {
    var all: [Place: UnconfirmedReport] = [:]
    for report in reports {
      let place = Place(scope: report.scope, id: report.originalTransactionID)
      all[place] = all[place].map { $0.merged(with: report) } ?? report
    }
    let (merged, proven) = (all.filter(\.value.isClaimed), all.filter { !$0.value.isClaimed })
    let rows = merged.map { place, report -> [SQLValue] in
      let at = SQLValue.integer(report.receivedAt.sinceEpoch)
      return place.scope.columns + [
        .text(place.id), at, at, .integer(Int64(report.count)), .integer(Int64(report.change.rawValue)),
        .bytes(report.message.bytes), .text(report.line?.text ?? ""),
      ]
    }
    // Before `work`: every writer of both tables uses this order.
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
    try HistoryJobTable.queue(
      merged.map { place, report in
        HistoryJobTable.ClaimedRow(
          scope: place.scope, kind: report.kind, subject: place.id,
          dueAt: report.receivedAt + gathering, createdAt: report.receivedAt)
      }, in: session)
    // Apple's API may still omit the contents of a receipt that was just created.
    for (place, report) in proven.sorted(by: { ($0.key.scope, $0.key.id) < ($1.key.scope, $1.key.id) }) {
      try HistoryJobTable.askAgain(
        [place.id], in: place.scope, unlessDoneSince: report.receivedAt + UnconfirmedChange.lag,
        at: report.receivedAt + UnconfirmedChange.lag,
        in: session)
    }
  }

  private struct Place: Hashable {
    let scope: AppScope
    let id: String
  }
}

package import Database
import Purchases
import Signing
package import Time

/// `claimed_changes`: what unsigned messages reported of customers, until a look-up has settled it.
///
/// As long as a row is there, a row of `work` waits for the same id with a kind that `isClaimed`. Of ids that nothing signed
/// names, which the comparison with Apple queues, there is none here.
package enum ClaimedChangeTable {
  /// How long reports are gathered before Apple is asked: one event may be told by several messages.
  static let gathering = Interval.seconds(1)
  /// How long after a look-up of a customer the next begins at the earliest, whatever is reported meanwhile.
  package static let shortestInterval = Interval.minutes(1)

  private static let upsert = RowsInsert(
    into: """
      INSERT INTO claimed_changes (app, environment, original_transaction_id, since, latest_at, changes, because, message,
        line) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        latest_at = GREATEST(latest_at, VALUES(latest_at)), changes = changes + VALUES(changes),
        because = because | VALUES(because), message = VALUES(message), line = IF(VALUES(line) = '', line, VALUES(line))
      """)

  /// Opens a look-up for each report; a look-up that is open already also answers the new report, unless Apple was asked
  /// before it came: then one more follows.
  static func queue(_ reports: [ClaimedReport], in session: borrowing Session) throws(DatabaseError) {
    guard !reports.isEmpty else { return }
    var merged: [Place: ClaimedReport] = [:]
    for report in reports {
      let place = Place(scope: report.scope, id: report.originalTransactionID)
      merged[place] = merged[place].map { $0.merged(with: report) } ?? report
    }
    let rows = merged.map { place, report -> [SQLValue] in
      let at = SQLValue.integer(report.receivedAt.sinceEpoch)
      return place.scope.columns + [
        .text(place.id), at, at, .integer(Int64(report.count)), .integer(Int64(report.change.rawValue)),
        .bytes(report.message.bytes), .text(report.line?.text ?? ""),
      ]
    }
    // Before `work`, as everybody who writes to both does.
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 3))
    try WorkTable.queue(
      merged.map { place, report in
        WorkTable.ClaimedRow(
          scope: place.scope, kind: report.isKnown ? .claimedChange : .claimedID, subject: place.id,
          dueAt: report.receivedAt + gathering, createdAt: report.receivedAt)
      }, in: session)
  }

  private struct Place: Hashable {
    let scope: Ledger.Scope
    let id: String
  }

  /// How many changes were reported of each of these ids so far, of those of which a look-up is open.
  static func counts(
    of ids: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Int] {
    var counts: [String: Int] = [:]
    for ids in ids.sorted().parts() {
      for row in try session.query(
        """
        SELECT original_transaction_id, changes FROM claimed_changes WHERE app = \(scope.app.number)
        AND environment = \(scope.environment.code) AND original_transaction_id IN (\(list: ids))
        """)
      {
        counts[try row.text("original_transaction_id")] = try row.int("changes")
      }
    }
    return counts
  }

  /// What a look-up has answered.
  struct Answer {
    /// How many changes were reported before it began.
    let reports: Int
    /// When Apple was asked; nil where there is nothing more to ask.
    let askedAt: Milliseconds?
  }

  /// Notes that look-ups have settled what was reported of these ids.
  ///
  /// - Returns: The ids to ask about once more: more was reported of them meanwhile, or Apple was asked within
  ///   `ClaimedChange.lag` of the report and does not show the period or refund, which it may not know yet.
  static func settle(
    _ settled: [String: Answer], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var unsettled: Set<String> = []
    for ids in settled.keys.sorted().parts() {
      var answered: [String] = []
      var early: [PurchaseKey] = []
      for row in try session.query(
        """
        SELECT original_transaction_id, changes, latest_at, line FROM claimed_changes WHERE app = \(scope.app.number)
        AND environment = \(scope.environment.code) AND original_transaction_id IN (\(list: ids))
        ORDER BY original_transaction_id FOR UPDATE
        """)
      {
        let (id, changes) = (try row.text("original_transaction_id"), try row.int("changes"))
        let reports = settled[id]?.reports ?? 0
        guard changes > reports else {
          answered.append(id)
          let line = try row.text("line")
          if !line.isEmpty, let asked = settled[id]?.askedAt,
            asked < (try row.milliseconds("latest_at")) + ClaimedChange.lag
          {
            early.append(
              PurchaseKey(app: "", environment: scope.environment, originalTransactionID: id, line: Line(text: line)))
          }
          continue
        }
        unsettled.insert(id)
        _ = try session.execute(
          """
          UPDATE claimed_changes SET since = latest_at, changes = changes - \(reports)
          WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
          AND original_transaction_id = \(id)
          """)
      }
      let unconfirmed = try unconfirmed(early, in: scope, session)
      unsettled.formUnion(unconfirmed)
      answered.removeAll { unconfirmed.contains($0) }
      guard !answered.isEmpty else { continue }
      _ = try session.execute(
        """
        DELETE FROM claimed_changes WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND original_transaction_id IN (\(list: answered))
        """)
    }
    return unsettled
  }

  /// The ids of these purchases of which something is claimed that no signed statement says.
  private static func unconfirmed(
    _ keys: [PurchaseKey], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    let statements = try PurchaseTable.latest(of: keys, in: scope, bundleIDs: [:], session)
    var unconfirmed: Set<String> = []
    for (key, statements) in Dictionary(grouping: statements, by: \.key) {
      let signed = statements.filter(\.source.isSigned)
      guard statements.contains(where: { !$0.claimedChange(beyond: signed).isEmpty }) else { continue }
      unconfirmed.insert(key.originalTransactionID)
    }
    return unconfirmed
  }

  /// How many look-ups are open in each app and environment that has any, and since when the oldest is.
  package static func depths(
    in session: borrowing Session
  ) throws(DatabaseError) -> [Ledger.Scope: (open: Int, oldest: Milliseconds)] {
    var depths: [Ledger.Scope: (open: Int, oldest: Milliseconds)] = [:]
    for row in try session.query(
      """
      SELECT app, environment, COUNT(*) AS open, MIN(since) AS oldest FROM claimed_changes GROUP BY app, environment
      """)
    {
      let scope = Ledger.Scope(
        app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
      depths[scope] = (try row.int("open"), try row.milliseconds("oldest"))
    }
    return depths
  }

  /// The look-ups that are open for these originalTransactionIds.
  static func open(
    of originals: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: OpenLookUp] {
    var open: [String: OpenLookUp] = [:]
    for ids in originals.parts() {
      for row in try session.query(
        """
        SELECT c.original_transaction_id AS id, c.since, c.because, c.message, MAX(w.reason) AS failure
        FROM claimed_changes c LEFT JOIN work w ON w.app = c.app AND w.environment = c.environment
        AND w.kind IN (\(list: WorkTable.Kind.claimed.map(\.rawValue))) AND w.subject = c.original_transaction_id
        AND w.state = 0
        WHERE c.app = \(scope.app.number) AND c.environment = \(scope.environment.code)
        AND c.original_transaction_id IN (\(list: ids))
        GROUP BY c.app, c.environment, c.original_transaction_id
        """)
      {
        open[try row.text("id")] = OpenLookUp(
          since: try row.milliseconds("since"), because: ClaimedChange(rawValue: try row.int("because")),
          message: try row.bytes("message"), failure: try row.optionalText("failure"))
      }
    }
    return open
  }
}

package import Database
import Purchases
import Signing
package import Time

/// `claimed_changes`: the changes in unsigned messages, until a lookup settles them.
///
/// While a row exists, a row of `work` waits for the ID with a kind that `isClaimed`. IDs without signed data, queued
/// by the comparison with Apple, have no row.
package enum UnconfirmedChangeTable {
  /// The time to gather reports before the lookup, since several messages may report one event.
  static let gathering = Interval.seconds(1)
  /// The minimum interval between two lookups of a customer, regardless of new reports.
  package static let shortestInterval = Interval.minutes(1)

  /// Returns the number of changes reported for each of these IDs that has an open lookup.
  static func counts(
    of ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Int] {
    var counts: [String: Int] = [:]
    try session.read("original_transaction_id, changes", of: .claimedChanges, ids, in: scope) {
      row throws(DatabaseError) in counts[try row.text("original_transaction_id")] = try row.int("changes")
    }
    return counts
  }

  struct Answer {
    let reports: Int
    /// The time of the request to Apple.
    ///
    /// `nil` if no further lookup is needed.
    let askedAt: Timestamp?
  }

  /// Records that lookups have settled the reports about these IDs.
  ///
  /// - Returns: The IDs to look up again. Another change was reported meanwhile, or the message names no purchase, or
  ///   the lookup came within `UnconfirmedChange.lag` and does not show the change.
  static func settle(
    _ settled: [String: Answer], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var unsettled: Set<String> = []
    for ids in settled.keys.sorted().parts() {
      var answered: [String] = []
      var (early, renewals, unsaid): ([PurchaseKey], [String: [UInt8]], Set<String>) = ([], [:], [])
      for row in try session.query(
        """
        SELECT original_transaction_id, changes, latest_at, line, because, message
        FROM \(Table.claimedChanges.each(ids, in: scope)) ORDER BY original_transaction_id FOR UPDATE
        """)
      {
        let (id, changes) = (try row.text("original_transaction_id"), try row.int("changes"))
        let reports = settled[id]?.reports ?? 0
        guard changes > reports else {
          answered.append(id)
          let line = try row.text("line")
          if let asked = settled[id]?.askedAt, asked < (try row.milliseconds("latest_at")) + UnconfirmedChange.lag {
            let because = UnconfirmedChange(rawValue: try row.int("because"))
            if !line.isEmpty || because.contains(.period) {
              early.append(
                PurchaseKey(app: "", environment: scope.environment, originalTransactionID: id, line: Line(text: line)))
            }
            if because.contains(.renewal) { renewals[id] = try row.bytes("message") }
            if because.contains(.refundWithoutRow) { unsaid.insert(id) }
          }
          continue
        }
        unsettled.insert(id)
        _ = try session.execute(
          """
          UPDATE claimed_changes SET since = latest_at, changes = changes - \(reports)
          WHERE \(in: scope) AND original_transaction_id = \(id)
          """)
      }
      let unconfirmed = try unconfirmed(early, in: scope, session)
        .union(try unconfirmedRenewals(of: renewals, in: scope, session)).union(unsaid)
      unsettled.formUnion(unconfirmed)
      answered.removeAll { unconfirmed.contains($0) }
      guard !answered.isEmpty else { continue }
      _ = try session.execute("DELETE claimed_changes FROM \(Table.claimedChanges.each(answered, in: scope))")
    }
    return unsettled
  }

  /// Returns the IDs of purchases that have a claim without a signed transaction, or no data.
  ///
  /// An empty line represents a purchase that is not a subscription, or an unspecified one.
  private static func unconfirmed(
    _ keys: [PurchaseKey], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    let statements = try PurchaseTable.latest(of: keys, in: scope, bundleIDs: [:], session)
    let told = Set(statements.map { "\($0.key.originalTransactionID) \($0.key.line.text)" })
    var unconfirmed = Set(
      keys.filter { !told.contains("\($0.originalTransactionID) \($0.line.text)") }.map(\.originalTransactionID))
    for (key, statements) in Dictionary(grouping: statements, by: \.key) {
      let signed = statements.filter { $0.source == .signedV2 }
      guard statements.contains(where: { !$0.claimedChange(beyond: signed).isEmpty }) else { continue }
      unconfirmed.insert(key.originalTransactionID)
    }
    return unconfirmed
  }

  /// Returns the IDs whose message states another renewal than Apple signed last.
  private static func unconfirmedRenewals(
    of messages: [String: [UInt8]], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    guard !messages.isEmpty else { return [] }
    let statements = try RenewalTable.read(
      "WHERE \(in: scope) AND original_transaction_id IN (\(list: messages.keys.sorted()))", bundleIDs: [:], in: session
    )
    let contradicted = Dictionary(grouping: statements, by: \.key.originalTransactionID).filter { id, told in
      let signed = told.filter(\.source.isSigned).max { $0.rank < $1.rank }
      return told.contains { $0.source.isClaimed && $0.message == messages[id] && $0.contradicts(signed) }
    }
    return Set(contradicted.keys)
  }

  package static func depths(
    in session: borrowing Session
  ) throws(DatabaseError) -> [AppScope: (open: Int, oldest: Timestamp)] {
    var depths: [AppScope: (open: Int, oldest: Timestamp)] = [:]
    for row in try session.query(
      """
      SELECT app, environment, COUNT(*) AS open, MIN(since) AS oldest FROM claimed_changes GROUP BY app, environment
      """)
    {
      let scope = AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment")))
      depths[scope] = (try row.int("open"), try row.milliseconds("oldest"))
    }
    return depths
  }
}

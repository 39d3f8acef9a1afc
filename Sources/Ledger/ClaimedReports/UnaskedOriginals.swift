import Database
import Purchases

extension HistoryTable {
  /// Returns the originalTransactionIds in V1 bodies that have signed data but no history, and no new reports.
  ///
  /// No claim causes their lookup, so they are seeds. Call it before the messages are written.
  static func unaskedOriginals(
    in messages: [(message: InboxMessage, app: App.ID, findings: Findings)], _ reports: [UnconfirmedReport],
    _ session: borrowing Session
  ) throws(DatabaseError) -> [AppScope: Set<String>] {
    var unasked: [AppScope: Set<String>] = [:]
    for (_, app, findings) in messages {
      unasked[AppScope(app: app, environment: findings.environment), default: []].formUnion(findings.claimedOriginals)
    }
    for report in reports { unasked[report.scope]?.remove(report.originalTransactionID) }
    for (scope, originals) in unasked where !originals.isEmpty {
      var signed: Set<String> = []
      for ids in originals.sorted().parts() {
        let missing = Set(ids).subtracting(try stored(Set(ids), in: scope, session))
        for row in try session.query(
          """
          SELECT original_transaction_id FROM renewals
          WHERE \(in: scope) AND original_transaction_id IN (\(list: missing.sorted())) AND source = \(Source.signedV2.rawValue)
          """)
        {
          signed.insert(try row.text(0))
        }
      }
      unasked[scope] = signed
    }
    return unasked
  }
}

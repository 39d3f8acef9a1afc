package import Database
package import Purchases

extension LedgerStore {
  /// Whether a receipt contains a purchase or its ID without signed data in the ledger.
  ///
  /// For purchases that the receipt does not prove, any data suffices. Otherwise a modified copy of the receipt would
  /// make them new again.
  package func hasNews(_ findings: Findings, app: App.ID) async throws(DatabaseError) -> Bool {
    try await pool.read { session throws(DatabaseError) in
      let scope = AppScope(app: app, environment: findings.environment)
      if try Self.hasNewLine(findings, in: scope, session) { return true }
      return try Self.hasNewID(findings, in: scope, session)
    }
  }

  private static func hasNewLine(
    _ findings: Findings, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    var missing: [Bool: Set<PurchaseKey>] = [:]
    for statement in findings.purchases {
      let (id, line) = (statement.key.originalTransactionID, statement.key.line)
      missing[statement.source.isSigned, default: []].insert(
        PurchaseKey(app: "", environment: scope.environment, originalTransactionID: id, line: line))
    }
    for (isSigned, keys) in missing {
      let sources = Source.allCases.filter { $0.isSigned || !isSigned }.map(\.rawValue)
      var unknown = keys
      for keys in keys.sorted().parts(of: 128) {
        // Line by line: holders of the app's shared secret can claim any number of other lines of an ID.
        try session.query(
          """
          SELECT original_transaction_id, line FROM purchases
          WHERE \(in: scope) AND \(PurchaseTable.isOf(keys)) AND source IN (\(list: sources))
          """
        ) { row throws(DatabaseError) in unknown.remove(try PurchaseTable.key("", scope.environment, of: row)) }
      }
      if !unknown.isEmpty { return true }
    }
    return false
  }

  private static func hasNewID(
    _ findings: Findings, in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let aliases = findings.aliases
    let claimed = Set(aliases.filter(\.isClaimed).map(\.id))
    let signed = Set(aliases.filter { !$0.isClaimed }.map(\.id))
    var (unknown, unclaimed) = (signed, claimed)
    for id in try known(signed.union(claimed), in: .aliases, scope, session) {
      unknown.remove(id)
      unclaimed.remove(id)
    }
    for id in try known(unclaimed, in: .claimedAliases, scope, session) { unclaimed.remove(id) }
    return !unknown.isEmpty || !unclaimed.isEmpty
  }

  private static func known(
    _ ids: Set<String>, in table: Table, _ scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    var known: [String] = []
    try session.read("DISTINCT alias", of: table, ids, in: scope) { row throws(DatabaseError) in
      known.append(try row.text("alias"))
    }
    return known
  }
}

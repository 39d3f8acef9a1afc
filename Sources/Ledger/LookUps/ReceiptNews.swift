package import Database
package import Purchases

extension Ledger {
  /// Whether a receipt tells of a purchase, or of an id of one, of which nothing signed is known.
  ///
  /// Of purchases that the receipt does not prove, as where it signs no environment, anything that is known will do: nobody
  /// can make them new again by sending the same receipt in other clothes.
  package func hasNews(_ findings: Findings, app: App.ID) async throws(DatabaseError) -> Bool {
    try await pool.read { session throws(DatabaseError) in
      let scope = Scope(app: app, environment: findings.environment)
      if try Self.hasNewLine(findings, in: scope, session) { return true }
      return try Self.hasNewID(findings, in: scope, session)
    }
  }

  private static func hasNewLine(
    _ findings: Findings, in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    var missing: [Bool: Set<PurchaseLine>] = [:]
    for statement in findings.purchases {
      missing[statement.source.isSigned, default: []].insert(
        PurchaseLine(id: statement.key.originalTransactionID, line: statement.key.line.text))
    }
    for (isSigned, lines) in missing {
      let sources = Source.allCases.filter { $0.isSigned || !isSigned }.map(\.rawValue)
      var unknown = lines
      for lines in lines.sorted(by: { ($0.id, $0.line) < ($1.id, $1.line) }).parts(of: 128) {
        // Line by line: below an id anybody with the app's shared secret can have claimed any number of others.
        let padded = lines + [PurchaseLine](repeating: lines[lines.count - 1], count: lines.count.upToPowerOfTwo)
        let pairs = padded.map { line -> SQL in "original_transaction_id = \(line.id) AND line = \(line.line)" }
        try session.query(
          """
          SELECT original_transaction_id, line FROM purchases
          WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
          AND (\(pairs.joined(separator: " OR "))) AND source IN (\(list: sources))
          """
        ) { row throws(DatabaseError) in
          unknown.remove(PurchaseLine(id: try row.text("original_transaction_id"), line: try row.text("line")))
        }
      }
      if !unknown.isEmpty { return true }
    }
    return false
  }

  private static func hasNewID(
    _ findings: Findings, in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let aliases = findings.aliases
    let claimed = Set(aliases.filter(\.isClaimed).map(\.id))
    let signed = Set(aliases.filter { !$0.isClaimed }.map(\.id))
    var (unknown, unclaimed) = (signed, claimed)
    for ids in signed.union(claimed).sorted().parts() {
      for id in try known(ids, in: "aliases", scope, session) {
        unknown.remove(id)
        unclaimed.remove(id)
      }
    }
    for ids in unclaimed.sorted().parts() {
      for id in try known(ids, in: "claimed_aliases", scope, session) { unclaimed.remove(id) }
    }
    return !unknown.isEmpty || !unclaimed.isEmpty
  }

  private static func known(
    _ ids: [String], in table: SQL, _ scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    var known: [String] = []
    try session.query(
      """
      SELECT DISTINCT alias FROM \(.listed(ids)) STRAIGHT_JOIN \(table) FORCE INDEX (PRIMARY)
      ON app = \(scope.app.number) AND environment = \(scope.environment.code) AND alias = listed.wanted
      """
    ) { row throws(DatabaseError) in known.append(try row.text("alias")) }
    return known
  }
}

/// One line of a purchase, by the column texts.
private struct PurchaseLine: Hashable {
  let id: String
  let line: String
}

extension Int {
  /// How much is missing to the next power of two: a list of each length were a statement of its own to prepare.
  fileprivate var upToPowerOfTwo: Int {
    var power = 1
    while power < self { power *= 2 }
    return power - self
  }
}

package import Database
package import Purchases
import Time

/// `aliases`: every id that was ever said of a purchase, with the span of time in which it was said.
enum AliasTable {
  private static let upsert = RowsInsert(
    into: """
      INSERT INTO aliases (app, environment, alias, kind, original_transaction_id, line, first_as_of, last_as_of) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        first_as_of = LEAST(first_as_of, VALUES(first_as_of)), last_as_of = GREATEST(last_as_of, VALUES(last_as_of))
      """)

  static func note(_ findings: [(App.ID, Findings)], in session: borrowing Session) throws(DatabaseError) {
    let rows: [[SQLValue]] = findings.flatMap { app, findings in
      let (app, environment) = (SQLValue.integer(Int64(app.number)), SQLValue.integer(Int64(findings.environment.code)))
      return findings.aliases.map { alias in
        let asOf = SQLValue.integer(alias.asOf.sinceEpoch)
        return [
          app, environment, .text(alias.id), .integer(Int64(alias.kind.rawValue)), .text(alias.originalTransactionID),
          .text(alias.line.text), asOf, asOf,
        ]
      }
    }
    _ = try session.insert(upsert, rows: merged(rows.inKeyOrder(columns: 7)))
  }

  /// A transaction and its renewal say the same, and every period names the same account: one row for all.
  ///
  /// Of rows of the same key the first was said first.
  private static func merged(_ rows: [[SQLValue]]) -> [[SQLValue]] {
    var merged: [[SQLValue]] = []
    merged.reserveCapacity(rows.count)
    for row in rows {
      if let last = merged.indices.last, merged[last].hasKey(of: row, columns: 6) {
        merged[last][7] = row[7]
      } else {
        merged.append(row)
      }
    }
    return merged
  }

  /// The nodes that `id` leads to in any environment, those of one environment in order.
  ///
  /// OriginalTransactionIds, itself included when it is one; and itself as an app transaction. `tooLarge` when there are
  /// more than `limit`.
  static func resolve(
    _ id: String, app: App, atMost limit: Int, in session: borrowing Session,
    each: (Environment, CustomerNode) throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    let token = Alias.normalized(accountToken: id)
    let download = CustomerNode.appTransactionID(id).text
    let known: SQL = "app = \(app.id.number) AND environment IN (\(list: Environment.allCases.map(\.code)))"
    var count = 0
    try session.query(
      """
      SELECT environment, CONCAT('o', original_transaction_id) AS node FROM aliases
        WHERE \(known) AND alias = \(id) AND kind <> \(Alias.Kind.appAccountToken.rawValue)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM aliases
        WHERE \(known) AND alias = \(token) AND kind = \(Alias.Kind.appAccountToken.rawValue)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM purchases
        WHERE \(known) AND original_transaction_id = \(id)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM renewals
        WHERE \(known) AND original_transaction_id = \(id)
      UNION SELECT environment, CONCAT('o', original_transaction_id) FROM user_ids
        WHERE \(known) AND user_id = \(id)
      UNION SELECT environment, node FROM customers WHERE \(known) AND node = \(download)
      UNION SELECT environment, CONCAT('t', app_transaction_id) FROM app_transactions
        WHERE \(known) AND app_transaction_id = \(id)
      ORDER BY environment, node LIMIT \(limit + 1)
      """
    ) { row throws(DatabaseError) in
      count += 1
      guard count <= limit else { throw IDMatch.tooLarge(limit) }
      if let node = CustomerNode(text: try row.text("node")) {
        try each(try Environment(code: row.int("environment")), node)
      }
    }
  }
}

extension Ledger {
  /// Whether a purchase is known under `id`, as one of these kinds or as its originalTransactionId.
  package static func knows(
    _ id: String, as kinds: [Alias.Kind], in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.query(
      """
      (SELECT 1 AS hit FROM aliases
        WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND alias = \(id) AND kind IN (\(list: kinds.map(\.rawValue))) LIMIT 1)
      UNION ALL (SELECT 1 FROM purchases
        WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND original_transaction_id = \(id)
        LIMIT 1)
      LIMIT 1
      """
    ).first != nil
  }
}

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

  /// The originalTransactionIds that `id` leads to, itself included when it is one.
  static func resolve(
    _ id: String, app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> [String] {
    let token = Alias.normalized(accountToken: id)
    let rows = try session.query(
      """
      SELECT original_transaction_id FROM aliases
        WHERE app = \(app.id.number) AND environment = \(environment.code)
        AND (alias = \(id) AND kind <> \(Alias.Kind.appAccountToken.rawValue)
          OR alias = \(token) AND kind = \(Alias.Kind.appAccountToken.rawValue))
      UNION SELECT original_transaction_id FROM purchases
        WHERE app = \(app.id.number) AND environment = \(environment.code) AND original_transaction_id = \(id)
      UNION SELECT original_transaction_id FROM renewals
        WHERE app = \(app.id.number) AND environment = \(environment.code) AND original_transaction_id = \(id)
      UNION SELECT original_transaction_id FROM user_ids
        WHERE app = \(app.id.number) AND environment = \(environment.code) AND user_id = \(id)
      ORDER BY original_transaction_id LIMIT 1000
      """)
    var originals: [String] = []
    for row in rows { originals.append(try row.text(0)) }
    return originals
  }
}

extension Ledger {
  /// Whether a purchase is known under `id`, as one of these kinds or as its originalTransactionId.
  package static func knows(
    _ id: String, as kinds: [Alias.Kind], in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.query(
      """
      SELECT 1 AS hit FROM aliases
        WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND alias = \(id) AND kind IN (\(list: kinds.map(\.rawValue)))
      UNION SELECT 1 FROM purchases
        WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND original_transaction_id = \(id)
      LIMIT 1
      """
    ).first != nil
  }
}

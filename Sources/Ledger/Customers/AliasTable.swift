import Database
import Purchases
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
      findings.aliases.map { alias in
        [
          .integer(Int64(app.number)), .integer(Int64(findings.environment.code)), .text(alias.id),
          .integer(Int64(alias.kind.rawValue)), .text(alias.originalTransactionID), .text(alias.line.text),
          .integer(alias.asOf.sinceEpoch), .integer(alias.asOf.sinceEpoch),
        ]
      }
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 6))
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
      ORDER BY original_transaction_id LIMIT 1000
      """)
    var originals: [String] = []
    for row in rows { originals.append(try row.text(0)) }
    return originals
  }
}

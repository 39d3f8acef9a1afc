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
    // A transaction and its renewal say the same: one row for both.
    var spans: [Key: ClosedRange<Milliseconds>] = [:]
    for (app, findings) in findings {
      for alias in findings.aliases {
        let key = Key(
          app: app, environment: findings.environment, kind: alias.kind, id: alias.id,
          original: alias.originalTransactionID, line: alias.line)
        let span = spans[key] ?? alias.asOf...alias.asOf
        spans[key] = min(span.lowerBound, alias.asOf)...max(span.upperBound, alias.asOf)
      }
    }
    let rows: [[SQLValue]] = spans.map { key, span in
      [
        .integer(Int64(key.app.number)), .integer(Int64(key.environment.code)), .text(key.id),
        .integer(Int64(key.kind.rawValue)), .text(key.original), .text(key.line.text),
        .integer(span.lowerBound.sinceEpoch), .integer(span.upperBound.sinceEpoch),
      ]
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 6))
  }

  private struct Key: Hashable {
    let app: App.ID, environment: Environment, kind: Alias.Kind, id: String, original: String, line: Line
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
      UNION SELECT original_transaction_id FROM attributions
        WHERE app = \(app.id.number) AND environment = \(environment.code)
        AND kind = \(Attribution.Kind.userID.rawValue) AND value = \(id)
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

import Database
import Purchases

/// `renewals`: what each source said of Apple's intentions with each subscription, the latest of each.
enum RenewalTable {
  private static let upsert = RowsInsert(
    into: """
      INSERT INTO renewals (app, environment, original_transaction_id, source, as_of, facts, message, precedence) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
        facts = IF(VALUES(precedence) > precedence, VALUES(facts), facts),
        message = IF(VALUES(precedence) > precedence, VALUES(message), message),
        precedence = GREATEST(precedence, VALUES(precedence))
      """)

  static func note(_ statements: [(App.ID, RenewalStatement)], in session: borrowing Session) throws(DatabaseError) {
    let rows = statements.map { app, statement in
      [
        .integer(Int64(app.number)), .integer(Int64(statement.key.environment.code)),
        .text(statement.key.originalTransactionID), .integer(Int64(statement.source.rawValue)),
      ] + statement.columns
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Every statement about these subscriptions.
  static func find(
    _ originals: [String], app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> [RenewalStatement] {
    try read(
      "WHERE app = \(app.id.number) AND environment = \(environment.code) AND original_transaction_id IN (\(list: originals))",
      bundleIDs: [app.id: app.bundleID], in: session)
  }

  /// - Parameter limit: rows that are read; nil: all.
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [RenewalStatement] {
    var statements: [RenewalStatement] = []
    try session.query(
      """
      SELECT app, environment, original_transaction_id, source, as_of, facts, message, precedence
      FROM renewals \(condition) ORDER BY app, environment, original_transaction_id, source \(.limit(limit))
      """
    ) { row throws(DatabaseError) in
      let key = SubscriptionKey(
        app: bundleIDs[App.ID(try row.int("app"))] ?? "", environment: try Environment(code: row.int("environment")),
        originalTransactionID: try row.text("original_transaction_id"))
      statements.append(try RenewalStatement(key: key, row))
    }
    return statements
  }
}

import Database
import Purchases

/// `app_transactions`: what each source said about each customer's purchase of the app itself, the latest of each.
enum AppTransactionTable {
  private static let upsert = RowsInsert(
    into: """
      INSERT INTO app_transactions (app, environment, app_transaction_id, source, as_of, facts, message, precedence) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
        facts = IF(VALUES(precedence) > precedence, VALUES(facts), facts),
        message = IF(VALUES(precedence) > precedence, VALUES(message), message),
        precedence = GREATEST(precedence, VALUES(precedence))
      """)

  static func note(
    _ statements: [(App.ID, AppTransactionStatement)], in session: borrowing Session
  ) throws(DatabaseError) {
    let rows = statements.map { app, statement in
      [
        .integer(Int64(app.number)), .integer(Int64(statement.key.environment.code)),
        .text(statement.key.appTransactionID), .integer(Int64(statement.source.rawValue)),
      ] + statement.columns
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Every statement about these ids; nothing is asked for none.
  static func find(
    _ ids: [String], app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> [AppTransactionStatement] {
    var statements: [AppTransactionStatement] = []
    for ids in ids.parts() {
      statements += try read(
        """
        WHERE app = \(app.id.number) AND environment = \(environment.code) AND app_transaction_id IN (\(list: ids))
        """, bundleIDs: [app.id: app.bundleID], in: session)
    }
    return statements
  }

  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], in session: borrowing Session
  ) throws(DatabaseError) -> [AppTransactionStatement] {
    var statements: [AppTransactionStatement] = []
    try session.query(
      """
      SELECT app, environment, app_transaction_id, source, as_of, facts, message, precedence
      FROM app_transactions \(condition) ORDER BY app, environment, app_transaction_id, source
      """
    ) { row throws(DatabaseError) in
      let key = AppTransactionKey(
        app: bundleIDs[App.ID(try row.int("app"))] ?? "", environment: try Environment(code: row.int("environment")),
        appTransactionID: try row.text("app_transaction_id"))
      statements.append(try AppTransactionStatement(key: key, row))
    }
    return statements
  }
}

import Database
import Purchases

/// `app_transactions`: each source's latest statement about each customer's purchase of the app.
enum AppTransactionTable: StatementTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO app_transactions (app, environment, app_transaction_id, source, as_of, facts, message, precedence) VALUES
      """,
    then: keepingTheLatest, repeatsLast: true)

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

  static let (table, keyColumns): (Table, SQL) = (.appTransactions, "app_transaction_id")

  static func key(_ app: String, _ environment: Environment, of row: Row) throws(DatabaseError) -> AppTransactionKey {
    AppTransactionKey(app: app, environment: environment, appTransactionID: try row.text("app_transaction_id"))
  }

  typealias Field = AppTransactionField
}

import Database
import Purchases

/// `renewals`: each source's latest statement about the renewal of each subscription.
enum RenewalTable: StatementTable {
  private static let upsert = BulkInsert(
    into: """
      INSERT INTO renewals (app, environment, original_transaction_id, source, as_of, facts, message, precedence) VALUES
      """,
    then: keepingTheLatest, repeatsLast: true)

  static func note(_ statements: [(App.ID, RenewalStatement)], in session: borrowing Session) throws(DatabaseError) {
    let rows = statements.map { app, statement in
      [
        .integer(Int64(app.number)), .integer(Int64(statement.key.environment.code)),
        .text(statement.key.originalTransactionID), .integer(Int64(statement.source.rawValue)),
      ] + statement.columns
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
  }

  static let (table, keyColumns): (Table, SQL) = (.renewals, "original_transaction_id")

  static func key(_ app: String, _ environment: Environment, of row: Row) throws(DatabaseError) -> SubscriptionKey {
    SubscriptionKey(
      app: app, environment: environment, originalTransactionID: try row.text("original_transaction_id"))
  }

  typealias Field = RenewalField
}

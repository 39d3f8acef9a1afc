import Database
import Purchases

/// `purchases` and `purchase_marks`: what each source said about each purchase, the latest of each, and the latest that set
/// a mark.
enum PurchaseTable {
  private static let upsert = RowsInsert(
    into: """
      INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts, message,
        precedence) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        product_id = IF(VALUES(precedence) > precedence, VALUES(product_id), product_id),
        as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
        facts = IF(VALUES(precedence) > precedence, VALUES(facts), facts),
        message = IF(VALUES(precedence) > precedence, VALUES(message), message),
        precedence = GREATEST(precedence, VALUES(precedence))
      """)

  static func note(_ statements: [(App.ID, PurchaseStatement)], in session: borrowing Session) throws(DatabaseError) {
    let rows = statements.map { app, statement in
      let key = statement.key
      return [
        .integer(Int64(app.number)), .integer(Int64(key.environment.code)), .text(key.originalTransactionID),
        .text(key.line.text), .integer(Int64(statement.source.rawValue)),
        .text(statement.facts.text(.productId) ?? ""),
      ] + statement.columns
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 5))
    try noteMarks(statements, in: session)
  }

  private static let upsertMark = RowsInsert(
    into: """
      INSERT INTO purchase_marks (app, environment, original_transaction_id, line, source, mark, as_of, facts, message,
        precedence) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE
        as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
        facts = IF(VALUES(precedence) > precedence, VALUES(facts), facts),
        message = IF(VALUES(precedence) > precedence, VALUES(message), message),
        precedence = GREATEST(precedence, VALUES(precedence))
      """)

  private static func noteMarks(
    _ statements: [(App.ID, PurchaseStatement)], in session: borrowing Session
  ) throws(DatabaseError) {
    let rows = statements.flatMap { app, statement in
      let key = statement.key
      return statement.marks.map { mark in
        [
          .integer(Int64(app.number)), .integer(Int64(key.environment.code)), .text(key.originalTransactionID),
          .text(key.line.text), .integer(Int64(statement.source.rawValue)), .text(mark.name),
        ] + statement.columns
      }
    }
    _ = try session.insert(upsertMark, rows: rows.inKeyOrder(columns: 6))
  }

  /// Every statement about purchases below these originalTransactionIds.
  static func find(
    _ originals: [String], app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    try read(
      "WHERE app = \(app.id.number) AND environment = \(environment.code) AND original_transaction_id IN (\(list: originals))",
      bundleIDs: [app.id: app.bundleID], in: session)
  }

  /// The latest statement of each source about each of these purchases: as many rows as that, whatever else is known below
  /// their originalTransactionIds.
  static func latest(
    of keys: [PurchaseKey], in scope: Ledger.Scope, bundleIDs: [App.ID: String], _ session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    guard let last = keys.last else { return [] }
    // Repeated up to a power of two, as lists are: otherwise every number of keys were a statement of its own to prepare.
    var padded = keys
    while padded.count & (padded.count - 1) != 0 { padded.append(last) }
    // One range for each pair; not every server makes ranges of `(a, b) IN (…)`.
    let pairs = padded.map { key -> SQL in
      "original_transaction_id = \(key.originalTransactionID) AND line = \(key.line.text)"
    }
    return try read(
      from: "purchases",
      "WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND (\(pairs.joined(separator: " OR ")))",
      bundleIDs, nil, in: session)
  }

  /// Every statement that `condition` selects, in key order; those of one source about one purchase by rank.
  ///
  /// - Parameter limit: rows that are read of each of the two tables; nil: all.
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    let latest = try read(from: "purchases", condition, bundleIDs, limit, in: session)
    let marking = try read(from: "purchase_marks", condition, bundleIDs, limit, in: session)
    if marking.isEmpty { return latest }
    return Set(latest + marking).sorted { a, b in
      if a.key != b.key { return a.key < b.key }
      if a.source != b.source { return a.source < b.source }
      return a.rank != b.rank ? a.rank < b.rank : a.message.lexicographicallyPrecedes(b.message)
    }
  }

  private static func read(
    from table: SQL, _ condition: SQL, _ bundleIDs: [App.ID: String], _ limit: Int?, in session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    var statements: [PurchaseStatement] = []
    try session.query(
      """
      SELECT app, environment, original_transaction_id, line, source, as_of, facts, message, precedence
      FROM \(table) \(condition) ORDER BY app, environment, original_transaction_id, line, source \(.limit(limit))
      """
    ) { row throws(DatabaseError) in
      let key = PurchaseKey(
        app: bundleIDs[App.ID(try row.int("app"))] ?? "", environment: try Environment(code: row.int("environment")),
        originalTransactionID: try row.text("original_transaction_id"), line: Line(text: try row.text("line")))
      statements.append(try PurchaseStatement(key: key, row))
    }
    return statements
  }
}

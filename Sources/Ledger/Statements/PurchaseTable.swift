import Database
import Purchases

/// `purchases` and `purchase_marks`: each source's latest statement about each purchase, and its latest one with a
/// mark.
enum PurchaseTable: StatementTable {
  private static let upsert = BulkInsert(
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
      """, repeatsLast: true)

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

  private static let upsertMark = BulkInsert(
    into: """
      INSERT INTO purchase_marks (app, environment, original_transaction_id, line, source, mark, as_of, facts, message,
        precedence) VALUES
      """,
    then: keepingTheLatest)

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

  /// Returns each source's latest statement about each of these purchases, without other rows of their
  /// originalTransactionIds.
  static func latest(
    of keys: [PurchaseKey], in scope: AppScope, bundleIDs: [App.ID: String], _ session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    guard !keys.isEmpty else { return [] }
    return try read(from: table.name, "WHERE \(in: scope) AND \(isOf(keys))", bundleIDs, nil, in: session)
  }

  /// A condition for the rows of these purchases, with a range for each: not every server uses ranges for `(a, b) IN
  /// (…)`.
  static func isOf(_ keys: [PurchaseKey]) -> SQL {
    // Padded to a power of two, like lists: otherwise the server would prepare a statement for every number of keys.
    var padded = keys
    while padded.count & (padded.count - 1) != 0, let last = keys.last { padded.append(last) }
    let pairs = padded.map { key -> SQL in
      "original_transaction_id = \(key.originalTransactionID) AND line = \(key.line.text)"
    }
    return "(\(pairs.joined(separator: " OR ")))"
  }

  /// Returns the statements that `condition` selects, in key order.
  ///
  /// Those of one source about one purchase are in order of rank.
  ///
  /// - Parameter limit: the maximum number of rows of each of the two tables. `nil`: no limit.
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    let latest = try read(from: table.name, condition, bundleIDs, limit, in: session)
    let marking = try read(from: "purchase_marks", condition, bundleIDs, limit, in: session)
    return marking.isEmpty ? latest : inOrder(latest + marking)
  }

  /// Returns the statements within the limit of a lookup.
  ///
  /// The mark of an omitted claim is omitted too.
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], within bound: inout ReadLimit, in session: borrowing Session
  ) throws(DatabaseError) -> [PurchaseStatement] {
    let latest = try bound.rows { further, isBackward, limit throws(DatabaseError) in
      try read(from: table.name, condition + further, bundleIDs, limit, order: isBackward ? backward : nil, in: session)
    }
    let marking = try bound.rows { further, isBackward, limit throws(DatabaseError) in
      try read(
        from: "purchase_marks", condition + further, bundleIDs, limit,
        order: isBackward ? backward + ", mark DESC" : nil,
        in: session)
    }
    guard latest.count + marking.count > bound.claimed else {
      return marking.isEmpty ? latest : inOrder(latest + marking)
    }
    let known = Dictionary(grouping: latest, by: \.key).mapValues { Set($0.map(\.source)) }
    return inOrder(latest + marking.filter { $0.source.isSigned || known[$0.key]?.contains($0.source) == true })
  }

  private static let backward: SQL =
    "app DESC, environment DESC, original_transaction_id DESC, line DESC, source DESC"

  private static func inOrder(_ told: [PurchaseStatement]) -> [PurchaseStatement] {
    Set(told).sorted { a, b in
      if a.key != b.key { return a.key < b.key }
      if a.source != b.source { return a.source < b.source }
      return a.rank != b.rank ? a.rank < b.rank : a.message.lexicographicallyPrecedes(b.message)
    }
  }

  static let (table, keyColumns): (Table, SQL) = (.purchases, "original_transaction_id, line")

  static func key(_ app: String, _ environment: Environment, of row: Row) throws(DatabaseError) -> PurchaseKey {
    PurchaseKey(
      app: app, environment: environment, originalTransactionID: try row.text("original_transaction_id"),
      line: Line(text: try row.text("line")))
  }

  typealias Field = PurchaseField
}

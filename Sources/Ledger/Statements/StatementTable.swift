import Database
import Purchases

/// A table of statements: each source's latest statement about each key.
protocol StatementTable {
  associatedtype Key: Hashable & Sendable
  associatedtype Field: FactField
  typealias Told = Statement<Key, Field>

  static var table: Table { get }
  /// The columns of the key, without the app and the environment.
  static var keyColumns: SQL { get }
  static func key(_ app: String, _ environment: Environment, of row: Row) throws(DatabaseError) -> Key
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int?, in session: borrowing Session
  ) throws(DatabaseError) -> [Told]
}

extension StatementTable {
  /// The SQL that keeps the later of two statements with the same key.
  static var keepingTheLatest: StaticString {
    """
    ON DUPLICATE KEY UPDATE
      as_of = IF(VALUES(precedence) > precedence, VALUES(as_of), as_of),
      facts = IF(VALUES(precedence) > precedence, VALUES(facts), facts),
      message = IF(VALUES(precedence) > precedence, VALUES(message), message),
      precedence = GREATEST(precedence, VALUES(precedence))
    """
  }

  /// Returns every statement about these IDs, without a query if there are no IDs.
  static func find(
    _ ids: [String], app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> [Told] {
    let scope = AppScope(app: app.id, environment: environment)
    var told: [Told] = []
    for ids in ids.parts() {
      told += try read(from: table.each(ids, in: scope), "", [app.id: app.bundleID], nil, in: session)
    }
    return told
  }

  /// Returns every statement that `condition` selects, in key order.
  ///
  /// - Parameter limit: the maximum number of rows. `nil`: no limit.
  static func read(
    _ condition: SQL, bundleIDs: [App.ID: String], atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [Told] {
    try read(from: table.name, condition, bundleIDs, limit, in: session)
  }

  static func read(
    from table: SQL, _ condition: SQL, _ bundleIDs: [App.ID: String], _ limit: Int?, order: SQL? = nil,
    in session: borrowing Session
  ) throws(DatabaseError) -> [Told] {
    var told: [Told] = []
    let order = order ?? "app, environment, \(keyColumns), source"
    try session.query(
      """
      SELECT app, environment, \(keyColumns), source, as_of, facts, message, precedence
      FROM \(table) \(condition) ORDER BY \(order) \(.limit(limit))
      """
    ) { row throws(DatabaseError) in
      let app = bundleIDs[App.ID(try row.int("app"))] ?? ""
      let key = try key(app, try Environment(code: row.int("environment")), of: row)
      told.append(try Told(key: key, row))
    }
    return told
  }
}

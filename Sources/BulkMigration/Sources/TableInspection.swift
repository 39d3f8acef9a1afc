import Backfill
package import Database

/// Finds out how a table is read: its key, and which columns hold what, by their names.
package enum TableInspection {
  /// What an operator said; nil: to be found out.
  package struct Wishes: Sendable {
    package var key: String?
    package var content: String?
    package var userID: String?
    package var app: String?

    package init() {}

    /// A column that would hold two things, of which one would be lost; nil if none.
    ///
    /// A key may be what the rows hold, as of a table of ids.
    package var ambiguous: String? {
      let names = [content, userID, app].compactMap(\.self)
      return names.first { name in names.count { $0 == name } > 1 }
    }
  }

  /// Why a table cannot be read as it is.
  package struct Flaw: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
  }

  /// Looks at the table's definition alone.
  package static func source(
    _ table: String, at address: String, wishes: Wishes, condition: WhereClause?, on connection: Connection
  ) async throws -> TableSource {
    let (columns, keys) = try await connection.read { session throws(DatabaseError) -> ([Column], [String]) in
      let found = try Self.columns(of: table, session)
      return (found, try uniqueColumns(of: table, session))
    }
    let estimate = try await connection.read { session throws(DatabaseError) -> Int64? in
      let row = try session.query(
        """
        SELECT CAST(table_rows AS SIGNED) AS count FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = \(table)
        """
      ).first
      return try row?.optionalInt64("count")
    }
    guard !columns.isEmpty else { throw Flaw("there is no table \(table), or this account may not see it") }
    let names = columns.map(\.name)
    func named(_ wish: String?, _ what: String) throws(Flaw) -> String? {
      guard let wish else { return nil }
      guard names.contains(wish) else {
        throw Flaw("\(table) has no column \(wish) for \(what); it has \(names.joined(separator: ", "))")
      }
      return wish
    }
    let guess = TableColumns(guessing: names)
    guard let content = try named(wishes.content, "receipts") ?? guess.content else {
      throw Flaw("no column of \(table) is called as receipts or ids are: say --column receipt=NAME")
    }
    guard let key = try named(wishes.key, "the key") ?? keys.first else {
      throw Flaw("\(table) has no unique key of one column to read it by: say --column key=COLUMN, or read a view")
    }
    guard keys.contains(key) else {
      throw Flaw("\(key) of \(table) is not unique, or may be NULL: rows would be left out between two pages")
    }
    guard let kind = columns.first(where: { $0.name == key })?.keyKind else {
      throw Flaw("\(key) of \(table) is neither a number nor a text nor bytes")
    }
    let chosen = TableSource.Columns(
      key: key, content: content, userID: try named(wishes.userID, "users") ?? guess.userID,
      app: try named(wishes.app, "apps") ?? guess.app, id: guess.id.flatMap { $0 == content ? nil : $0 })
    return TableSource(
      address: address, table: table, columns: chosen, keyKind: kind, condition: condition, estimate: estimate)
  }

  private struct Column: Sendable {
    let name: String
    let type: String

    var keyKind: TableSource.KeyKind? {
      switch type.lowercased() {
      case "tinyint", "smallint", "mediumint", "int", "bigint": .integer
      case "char", "varchar": .text
      case "binary", "varbinary": .bytes
      default: nil
      }
    }
  }

  private static func columns(of table: String, _ session: borrowing Session) throws(DatabaseError) -> [Column] {
    var columns: [Column] = []
    for row in try session.query(
      """
      SELECT column_name AS name, data_type AS type FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = \(table) ORDER BY ordinal_position
      """)
    {
      columns.append(Column(name: try row.text("name"), type: try row.text("type")))
    }
    return columns
  }

  /// Columns that are a unique key by themselves and never NULL, the primary key first.
  private static func uniqueColumns(of table: String, _ session: borrowing Session) throws(DatabaseError) -> [String] {
    var columns: [String] = []
    for row in try session.query(
      """
      SELECT s.index_name AS name, MAX(s.column_name) AS col, MAX(c.is_nullable) AS nullable
      FROM information_schema.statistics s JOIN information_schema.columns c
        ON c.table_schema = s.table_schema AND c.table_name = s.table_name AND c.column_name = s.column_name
      WHERE s.table_schema = DATABASE() AND s.table_name = \(table) AND s.non_unique = 0
      GROUP BY s.index_name HAVING COUNT(*) = 1 AND nullable = 'NO'
      ORDER BY s.index_name <> 'PRIMARY', s.index_name
      """)
    {
      columns.append(try row.text("col"))
    }
    return columns
  }
}

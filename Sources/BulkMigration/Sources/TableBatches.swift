package import Database
package import Ledger

/// A row of a table, as it was read.
package struct TableRow: Sendable {
  /// As it is kept: digits, text, or hexadecimal digits of bytes.
  package let key: String
  /// Nil for NULL.
  package let content: [UInt8]?
  package let userID: String?
  package let app: String?
  package let id: String?
  /// Whether the content is too long to be read.
  package let isTooLarge: Bool
}

/// The pages of a table, in the order of its key, from where the part is.
///
/// Each page is one SELECT of its own outside of any transaction, which locks nothing and holds back no purge; the session is
/// read-only. Rows that are added behind the last key while it goes on are read, others are not: the day on which the
/// notification URL was switched decides which of them matter.
package struct TableBatches: Sendable {
  private let source: TableSource
  private let connection: Connection
  /// The last key that was read.
  private var key: String?
  private var count: Int64 = 0
  private var pageRows: Int
  private let mostRows: Int

  /// What a page may hold, about.
  private static let pageBytes = 4 << 20
  private static let mostPageRows = 512
  /// The longest content that is read; a receipt of 1,000 purchases has half a megabyte.
  private static let longest = 8 << 20

  /// - Parameter mostRows: of a page, so that a low rate is no burst of many rows.
  package init(
    _ source: TableSource, _ configuration: DatabaseConfiguration, from place: SourcePosition, mostRows: Int?
  ) async throws {
    self.source = source
    key = place.key
    self.mostRows = max(1, min(mostRows ?? Self.mostPageRows, Self.mostPageRows))
    pageRows = min(64, self.mostRows)
    connection = try await Connection.open(configuration)
    try await connection.read { session throws(DatabaseError) in
      try session.run("SET SESSION TRANSACTION READ ONLY")
    }
  }

  package func close() async { await connection.close() }

  /// How many rows the next page has at most.
  var nextRows: Int { pageRows }

  package mutating func next() async throws -> SourceBatch? {
    while true {
      do {
        let rows = try await page(pageRows)
        guard let last = rows.last else { return nil }
        key = last.key
        count += Int64(rows.count)
        let bytes = rows.reduce(0) { $0 + ($1.content?.count ?? 0) + 64 }
        pageRows = max(1, min(mostRows, pageRows * 2, Self.pageBytes * rows.count / max(1, bytes)))
        return SourceBatch(content: .rows(rows), bytesRead: count)
      } catch let error as DatabaseError where error.code == .tooLarge && pageRows > 1 {
        pageRows = max(1, pageRows / 4)
      }
    }
  }

  /// The row with this key; nil when it is gone.
  func row(_ key: String) async throws -> TableRow? {
    var find = try selection()
    find += " AND \(identifier: source.columns.key) = \(try argument(key))"
    return try await rows(find).first
  }

  private func page(_ limit: Int) async throws -> [TableRow] {
    var find = try selection()
    if let condition = source.condition { find += " AND \(condition: condition)" }
    if let key { find += " AND \(identifier: source.columns.key) > \(try argument(key))" }
    return try await rows(find + " ORDER BY \(identifier: source.columns.key) LIMIT \(limit)")
  }

  private func selection() throws(DatabaseError) -> SQL {
    let (columns, longest) = (source.columns, Self.longest)
    var find: SQL = """
      SELECT \(identifier: columns.key) AS k, IF(LENGTH(\(identifier: columns.content)) <= \(longest),
      \(identifier: columns.content), NULL) AS c, LENGTH(\(identifier: columns.content)) > \(longest) AS l,
      """
    find += columns.userID.map { " CAST(\(identifier: $0) AS CHAR) AS u" } ?? " NULL AS u"
    find += columns.app.map { ", CAST(\(identifier: $0) AS CHAR) AS a" } ?? ", NULL AS a"
    find += columns.id.map { ", CAST(\(identifier: $0) AS CHAR) AS i" } ?? ", NULL AS i"
    return find + " FROM \(identifier: source.table) WHERE TRUE"
  }

  private func rows(_ query: SQL) async throws -> [TableRow] {
    let kind = source.keyKind
    return try await connection.read { session throws(DatabaseError) in
      var rows: [TableRow] = []
      for row in try session.query(query) {
        rows.append(
          TableRow(
            key: try Self.key(row, kind), content: try Self.content(row), userID: try row.optionalText("u"),
            app: try row.optionalText("a"), id: try row.optionalText("i"), isTooLarge: try row.optionalInt64("l") == 1))
      }
      return rows
    }
  }

  private func argument(_ key: String) throws(DatabaseError) -> SQLValue {
    switch source.keyKind {
    case .integer:
      if let number = Int64(key) { return .integer(number) }
      guard let number = UInt64(key) else { throw DatabaseError(.misuse, "a key that is not a number") }
      return .unsigned(number)
    case .text: return .text(key)
    case .bytes:
      guard let bytes = Self.bytes(ofHexadecimal: key) else { throw DatabaseError(.misuse, "a key that is not bytes") }
      return .bytes(bytes)
    }
  }

  private static func key(_ row: Row, _ kind: TableSource.KeyKind) throws(DatabaseError) -> String {
    switch kind {
    case .integer:
      switch try row.value("k") {
      case .integer(let number): return "\(number)"
      case .unsigned(let number): return "\(number)"
      case .null, .bytes, .text: throw DatabaseError(.column, "the key is not an integer")
      }
    case .text: return try row.text("k")
    case .bytes: return try row.bytes("k").map { String($0 / 16, radix: 16) + String($0 % 16, radix: 16) }.joined()
    }
  }

  /// Numbers are ids.
  private static func content(_ row: Row) throws(DatabaseError) -> [UInt8]? {
    switch try row.value("c") {
    case .null: nil
    case .integer(let number): Array("\(number)".utf8)
    case .unsigned(let number): Array("\(number)".utf8)
    case .bytes(let bytes): bytes
    case .text(let text): Array(text.utf8)
    }
  }

  private static func bytes(ofHexadecimal text: String) -> [UInt8]? {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}

/// An INSERT of many rows: prepared for a few numbers of rows, so that the server parses none of them.
///
/// The text before and after the rows is literal; the rows are parameters.
package struct RowsInsert: Sendable {
  /// The statement for so many rows.
  struct Statement: Sendable {
    let rows: Int
    let text: String
  }

  /// The values of a row: as many as there are columns.
  let width: Int
  /// Those of several rows, that of the most first.
  private let larger: [Statement]
  private let single: Statement

  /// The numbers of rows that a statement is prepared for, beside one.
  ///
  /// Every number up to 8, since most batches are small: a remainder of up to 31 rows takes three statements at most. More
  /// than 32 gain nothing, as measured, and the server keeps 5 KB for each row of each statement that is prepared.
  private static let sizes = [32, 16, 8, 7, 6, 5, 4, 3, 2]
  static var mostRows: Int { sizes[0] }
  /// The most parameters of a statement, as the protocol counts them.
  static let mostParameters = Int(UInt16.max)

  /// - Parameters:
  ///   - head: `"INSERT INTO t (a, b) VALUES"`: every column by its name, and no other comma
  ///   - tail: `"ON DUPLICATE KEY UPDATE b = VALUES(b)"`, or nothing
  package init(into head: StaticString, then tail: StaticString = "") {
    let (head, tail) = (head.description, tail.description)
    let width = head.count { $0 == "," } + 1
    let row = "(?" + String(repeating: ",?", count: width - 1) + ")"
    func statement(_ rows: Int) -> Statement {
      let text = head + " " + row + String(repeating: "," + row, count: rows - 1)
      return Statement(rows: rows, text: tail.isEmpty ? text : text + " " + tail)
    }
    self.width = width
    larger = Self.sizes.filter { $0 * width <= Self.mostParameters }.map(statement)
    single = statement(1)
  }

  /// The largest statement of at most so many rows.
  func statement(atMost rows: Int) -> Statement {
    larger.first { $0.rows <= rows } ?? single
  }
}

extension Session {
  /// Writes the rows, in their order; the sum of affected rows.
  ///
  /// One round trip for each statement. Outside of a transaction an error leaves the rows of the statements before in
  /// place. A row above the limit by itself is `tooLarge`; one that has not a value for each column is `misuse`: of either
  /// none is written.
  package func insert(_ insert: RowsInsert, rows: [[SQLValue]]) throws(DatabaseError) -> UInt64 {
    let sizes = try sizes(of: rows, width: insert.width)
    var affected: UInt64 = 0
    var start = 0
    while start < rows.count {
      let statement = insert.statement(atMost: fitting(sizes[start...]))
      let end = start + statement.rows
      affected += try execute(statement.text, rows: rows[start..<end])
      start = end
    }
    return affected
  }

  private var insertLimit: Int { max(1 << 10, min(configuration.insertLimit, packetLimit - Session.packetSlack)) }

  private func sizes(of rows: [[SQLValue]], width: Int) throws(DatabaseError) -> [Int] {
    let limit = insertLimit
    var sizes: [Int] = []
    sizes.reserveCapacity(rows.count)
    for row in rows {
      guard row.count == width, width <= RowsInsert.mostParameters else {
        throw DatabaseError(.misuse, "a row of \(row.count) values for \(width) columns, or too many of both")
      }
      let size = row.reduce(0) { $0 + $1.size }
      guard size <= limit else {
        throw DatabaseError(.tooLarge, "a row takes \(size) bytes, the limit is \(limit)")
      }
      sizes.append(size)
    }
    return sizes
  }

  /// How many of the rows one packet takes.
  private func fitting(_ sizes: ArraySlice<Int>) -> Int {
    let limit = insertLimit
    var (fitting, taken) = (0, 0)
    for size in sizes.prefix(RowsInsert.mostRows) {
      taken += size
      guard taken <= limit else { break }
      fitting += 1
    }
    return fitting
  }
}

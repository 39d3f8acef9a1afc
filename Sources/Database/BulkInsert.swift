/// An INSERT of many rows, prepared for a few numbers of rows, so that the server does not parse each one.
///
/// The text before and after the rows is literal. The rows are parameters.
package struct BulkInsert: Sendable {
  struct Statement: Sendable {
    let rows: Int
    let text: String
  }

  let width: Int
  /// The statements for several rows, the largest first.
  private let larger: [Statement]
  private let single: Statement

  /// Whether the last row may be repeated to fill a statement, because the repetition changes no row.
  private let repeatsLast: Bool

  /// The numbers of rows of prepared statements, in addition to one.
  ///
  /// Every number up to 8, since most batches are small. More than 32 gain no time, and the server needs 5 KB for each
  /// row of each prepared statement.
  private static let sizes = [32, 16, 8, 7, 6, 5, 4, 3, 2]
  /// With repetition, up to 32 rows are one statement, with at most a quarter of repeated rows.
  private static let sizesOfRepeated = [32, 24, 16, 12, 8, 6, 4, 3, 2]
  static var mostRows: Int { sizes[0] }
  /// The maximum number of parameters of a statement in the protocol.
  static let mostParameters = Int(UInt16.max)

  /// - Parameters:
  ///   - head: `"INSERT INTO t (a, b) VALUES"`: every column by its name, and no other comma.
  ///   - tail: `"ON DUPLICATE KEY UPDATE b = VALUES(b)"`, or empty.
  ///   - repeatsLast: whether a repeated row changes no data. Then most batches need one round trip. Rows must not
  ///     increment values or draw numbers, and should be short.
  package init(into head: StaticString, then tail: StaticString = "", repeatsLast: Bool = false) {
    let (head, tail) = (head.description, tail.description)
    let width = head.count { $0 == "," } + 1
    let row = "(?" + String(repeating: ",?", count: width - 1) + ")"
    func statement(_ rows: Int) -> Statement {
      let text = head + " " + row + String(repeating: "," + row, count: rows - 1)
      return Statement(rows: rows, text: tail.isEmpty ? text : text + " " + tail)
    }
    self.width = width
    let sizes = repeatsLast ? Self.sizesOfRepeated : Self.sizes
    larger = sizes.filter { $0 * width <= Self.mostParameters }.map(statement)
    single = statement(1)
    self.repeatsLast = repeatsLast
  }

  func statement(atMost rows: Int) -> Statement {
    larger.first { $0.rows <= rows } ?? single
  }

  /// Returns the smallest statement that fits all remaining rows, or `nil` if rows must not be repeated.
  func statement(ofLast rows: Int) -> Statement? {
    guard repeatsLast, rows > 1 else { return nil }
    return larger.last { $0.rows >= rows }
  }
}

extension Session {
  /// Writes the rows in their order, and returns the sum of affected rows.
  ///
  /// Each statement is one round trip. Outside a transaction an error keeps the rows of earlier statements. Throws
  /// `tooLarge` if a row exceeds the limit, and `misuse` if it lacks a value for a column. Either error writes no row.
  package func insert(_ insert: BulkInsert, rows: [[SQLValue]]) throws(DatabaseError) -> UInt64 {
    let sizes = try sizes(of: rows, width: insert.width)
    var affected: UInt64 = 0
    var start = 0
    while start < rows.count {
      let fitting = fitting(sizes[start...])
      let left = rows.count - start
      if fitting == left, let statement = insert.statement(ofLast: left), fits(statement.rows - left, of: sizes, start)
      {
        let last = repeatElement(rows[rows.count - 1], count: statement.rows - left)
        return affected + (try execute(statement.text, rows: rows[start...] + last))
      }
      let statement = insert.statement(atMost: fitting)
      let end = start + statement.rows
      affected += try execute(statement.text, rows: rows[start..<end])
      start = end
    }
    return affected
  }

  /// Whether one packet fits the rows from `start` on with `repeated` copies of the last one.
  private func fits(_ repeated: Int, of sizes: [Int], _ start: Int) -> Bool {
    sizes[start...].reduce(0, +) + repeated * sizes[sizes.count - 1] <= insertLimit
  }

  private var insertLimit: Int { max(1 << 10, min(configuration.insertLimit, packetLimit - Session.packetSlack)) }

  private func sizes(of rows: [[SQLValue]], width: Int) throws(DatabaseError) -> [Int] {
    let limit = insertLimit
    var sizes: [Int] = []
    sizes.reserveCapacity(rows.count)
    for row in rows {
      guard row.count == width, width <= BulkInsert.mostParameters else {
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

  private func fitting(_ sizes: ArraySlice<Int>) -> Int {
    let limit = insertLimit
    var (fitting, taken) = (0, 0)
    for size in sizes.prefix(BulkInsert.mostRows) {
      taken += size
      guard taken <= limit else { break }
      fitting += 1
    }
    return fitting
  }
}

/// An INSERT of many rows: prepared for a few numbers of rows, so that the server parses none of them.
///
/// The text before and after the rows is literal; the rows are parameters.
package struct BulkInsert: Sendable {
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

  /// The last row is given again until a statement is full, where that changes nothing.
  private let repeatsLast: Bool

  /// The numbers of rows that a statement is prepared for, beside one.
  ///
  /// Every number up to 8, since most batches are small. More than 32 gain nothing, as measured, and the server keeps 5 KB
  /// for each row of each statement that is prepared.
  private static let sizes = [32, 16, 8, 7, 6, 5, 4, 3, 2]
  /// Where the last row may be given again, up to 32 rows are one statement, of which at most a quarter are repeated.
  private static let sizesOfRepeated = [32, 24, 16, 12, 8, 6, 4, 3, 2]
  static var mostRows: Int { sizes[0] }
  /// The most parameters of a statement, as the protocol counts them.
  static let mostParameters = Int(UInt16.max)

  /// - Parameters:
  ///   - head: `"INSERT INTO t (a, b) VALUES"`: every column by its name, and no other comma
  ///   - tail: `"ON DUPLICATE KEY UPDATE b = VALUES(b)"`, or nothing
  ///   - repeatsLast: whether a row that comes twice changes nothing the second time; then most batches are one round trip.
  ///     No row may count anything up or draw a number, and none should be long.
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

  /// The largest statement of at most so many rows.
  func statement(atMost rows: Int) -> Statement {
    larger.first { $0.rows <= rows } ?? single
  }

  /// The smallest statement that takes all of the last so many rows; nil where no row may come twice.
  func statement(ofLast rows: Int) -> Statement? {
    guard repeatsLast, rows > 1 else { return nil }
    return larger.last { $0.rows >= rows }
  }
}

extension Session {
  /// Writes the rows, in their order; the sum of affected rows.
  ///
  /// One round trip for each statement. Outside of a transaction an error leaves the rows of the statements before in
  /// place. A row above the limit by itself is `tooLarge`; one that has not a value for each column is `misuse`: of either
  /// none is written.
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

  /// Whether one packet takes the rows from `start` on and the last one so many times more.
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

  /// How many of the rows one packet takes.
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

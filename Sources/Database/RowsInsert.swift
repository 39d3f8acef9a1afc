/// An INSERT of many rows: prepared for each power of two of rows, so that the server parses none of them.
///
/// The text before and after the rows is literal; the rows are parameters.
package struct RowsInsert: Sendable {
  private let head: String
  private let tail: String

  /// The most rows of a statement.
  ///
  /// More gain nothing, as measured, and the server keeps 5 KB for each row of each statement that is prepared.
  static let mostRows = 32
  /// The most parameters of a statement, as the protocol counts them.
  static let mostParameters = Int(UInt16.max)

  /// - Parameters:
  ///   - head: `"INSERT INTO t (a, b) VALUES"`
  ///   - tail: `"ON DUPLICATE KEY UPDATE b = VALUES(b)"`, or nothing
  package init(into head: StaticString, then tail: StaticString = "") {
    self.head = head.description
    self.tail = tail.description
  }

  /// The statement for so many rows of `width` values.
  func text(rows: Int, width: Int) -> String {
    let row = "(?" + String(repeating: ",?", count: width - 1) + ")"
    let text = head + " " + row + String(repeating: "," + row, count: rows - 1)
    return tail.isEmpty ? text : text + " " + tail
  }
}

extension Session {
  /// Writes the rows, in their order; the sum of affected rows.
  ///
  /// One round trip for each statement. Outside of a transaction an error leaves the rows of the statements before in
  /// place. A row above the limit by itself is `tooLarge`; rows of unequal length are `misuse`: of either none is written.
  package func insert(_ insert: RowsInsert, rows: [[SQLValue]]) throws(DatabaseError) -> UInt64 {
    guard let width = rows.first?.count else { return 0 }
    let sizes = try sizes(of: rows, width: width)
    var affected: UInt64 = 0
    var start = 0
    while start < rows.count {
      let end = start + count(from: sizes[start...], width: width)
      affected += try execute(insert.text(rows: end - start, width: width), rows: rows[start..<end])
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
      guard row.count == width, width > 0, width <= RowsInsert.mostParameters else {
        throw DatabaseError(.misuse, "rows of unequal length, of none, or of too many values")
      }
      let size = row.reduce(0) { $0 + $1.size }
      guard size <= limit else {
        throw DatabaseError(.tooLarge, "a row takes \(size) bytes, the limit is \(limit)")
      }
      sizes.append(size)
    }
    return sizes
  }

  /// How many of the rows the next statement takes: the largest power of two whose rows fit.
  private func count(from sizes: ArraySlice<Int>, width: Int) -> Int {
    let most = min(sizes.count, RowsInsert.mostRows, RowsInsert.mostParameters / width)
    let limit = insertLimit
    var (fitting, taken) = (0, 0)
    for size in sizes.prefix(most) {
      taken += size
      guard taken <= limit else { break }
      fitting += 1
    }
    return 1 << (Int.bitWidth - 1 - fitting.leadingZeroBitCount)
  }
}

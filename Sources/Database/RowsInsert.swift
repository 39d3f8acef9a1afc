/// An INSERT of many rows in as few round trips as the packet limit allows.
///
/// The text before and after the rows is literal; the rows are rendered as literals that cannot contain a quotation
/// mark: integers as digits, bytes and text in hexadecimal (or plain, when every byte is harmless).
package struct RowsInsert: Sendable {
  let head: String
  let tail: String

  /// - Parameters:
  ///   - head: `"INSERT INTO t (a, b) VALUES"`
  ///   - tail: `"ON DUPLICATE KEY UPDATE b = VALUES(b)"`, or nothing
  package init(into head: StaticString, then tail: StaticString = "") {
    self.head = head.description
    self.tail = tail.description
  }
}

extension Session {
  /// Writes the rows; the sum of affected rows.
  ///
  /// One round trip for each chunk. Outside of a transaction an error leaves the chunks before it in place. A row
  /// above the limit by itself is `tooLarge`; rows of unequal length are `misuse`.
  package func insert(_ insert: RowsInsert, rows: [[SQLValue]]) throws(DatabaseError) -> UInt64 {
    guard let width = rows.first?.count else { return 0 }
    let limit =
      max(1 << 10, min(configuration.insertLimit, packetLimit - Session.packetSlack)) - insert.tail.utf8.count - 2
    var affected: UInt64 = 0
    var text = SQLText(head: insert.head)
    for row in rows {
      guard row.count == width, width > 0 else { throw DatabaseError(.misuse, "rows of unequal length") }
      let end = text.bytes.count
      text.append(row, isFirst: end == text.headLength)
      guard text.bytes.count > limit else { continue }
      guard end > text.headLength else {
        throw DatabaseError(.tooLarge, "a row takes \(text.bytes.count) bytes, the limit is \(limit)")
      }
      text.truncate(to: end)
      text.finish(with: insert.tail)
      affected += try send(text.bytes)
      text.truncate(to: text.headLength)
      text.append(row, isFirst: true)
      guard text.bytes.count <= limit else {
        throw DatabaseError(.tooLarge, "a row takes \(text.bytes.count) bytes, the limit is \(limit)")
      }
    }
    text.finish(with: insert.tail)
    return affected + (try send(text.bytes))
  }
}

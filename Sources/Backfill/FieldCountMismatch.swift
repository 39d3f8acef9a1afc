/// A row of a table that has more or fewer fields than the header.
package struct FieldCountMismatch: Hashable, Sendable {
  /// The file of a folder; nil when there is only one.
  package let file: String?
  /// The line on which it begins, from 1.
  package let line: Int
  /// How many fields it has.
  package let count: Int
  /// How many it ought to have.
  package let expected: Int

  /// Nil for a row with as many fields as the header.
  init?(_ row: Row, of block: Block) {
    guard case .csv(let columns) = block.format, let count = row.otherFieldCount else { return nil }
    file = block.file
    line = row.line
    self.count = count
    expected = columns.count
  }
}

/// How long the rows of an input may be and how much of it is held to read them, in bytes.
package struct RowLimits: Hashable, Sendable {
  /// A longer row is rejected.
  package var row = 4 << 20
  /// How much of a table has to follow a row without a quote that turns before the row is certain.
  ///
  /// Until then it could be a line within a text whose opening quote was lost: no text between quotes is expected to be
  /// longer. (A TEXT column of MySQL holds 64 KB.)
  package var lookahead = 256 << 10
  /// How much is read beyond the longest row to find the end of a quoted field.
  ///
  /// With none in it, the quote is taken for one that is never closed.
  package var patience = 8 << 20

  package init() {}

  /// - Parameter row: the longest row.
  package init(row: Int) {
    self.row = row
    patience = 2 * row
  }
}

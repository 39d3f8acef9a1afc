/// Limits on the length of rows and on the text that is held to read them, in bytes.
package struct RowLimits: Hashable, Sendable {
  /// A longer row is rejected.
  package var row = 4 << 20
  /// How much of a table has to follow a row before the row is certain, if no quoted field begins or ends there.
  ///
  /// Until then the row could be part of a text whose opening quote was lost. Quoted texts are expected to be shorter;
  /// a TEXT column of MySQL holds 64 KB.
  package var lookahead = 256 << 10
  /// How far beyond the longest row the end of a quoted field is searched.
  ///
  /// If there is none, the field's opening quote is an extra one.
  package var patience = 8 << 20

  /// How much of an input is read before its format is told: at least two lines, if they are not too long.
  package var beginning = 64 << 10

  package init() {}

  /// - Parameter row: the longest row.
  package init(row: Int) {
    self.row = row
    patience = 2 * row
  }
}

/// Consecutive rows of the input: the unit of work.
package struct Block: Sendable {
  struct Piece: Sendable {
    enum Kind: Sendable {
      /// Whole rows, each with its line end; the last row of the input perhaps without.
      case rows
      /// Lines that may be rows or parts of rows.
      case fragments
      /// The beginning of a row that is too long; the rest was dropped.
      case beginning
    }

    let kind: Kind
    let range: Range<Int>
  }

  /// How much of a row that is too long is kept for the rejects, in bytes.
  static let beginningLength = 200

  package let format: RowFormat
  /// The file of a folder; nil when there is only one.
  package let file: String?
  /// The line on which it begins, from 1.
  package let line: Int
  /// The offset of its first byte in the decompressed input.
  package let position: Int
  let bytes: [UInt8]
  /// They follow each other without a gap.
  let pieces: [Piece]
  /// Whether the row before it has too few fields; see `CSVColumns.isShort`.
  let followsShortRow: Bool
  /// The longest row that is read, in bytes.
  let rowLimit: Int
  /// The members of JSON objects that an operator named.
  var named = NamedColumns()

  /// The offset behind its last byte in the decompressed input.
  package var end: Int { position + bytes.count }
}

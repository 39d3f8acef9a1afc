/// Some rows of the input in one piece: what is worked on at once.
package struct Block: Sendable {
  struct Piece: Sendable {
    enum Kind: Sendable {
      /// Whole rows, each with its line end; the last row of the input perhaps without.
      case rows
      /// Lines of which it cannot be told to which row they belong, or whether they are rows.
      case fragments
      /// The beginning of a row that is too long; the rest was left out.
      case beginning
    }

    let kind: Kind
    let range: Range<Int>
  }

  /// So much of a row that is too long is kept for the rejects, in bytes.
  static let beginningLength = 200

  package let format: RowFormat
  /// The file of a folder; nil when there is only one.
  package let file: String?
  /// The line on which it begins, from 1.
  package let line: Int
  /// Where it begins in the input once that is decompressed, in bytes.
  package let position: Int
  let bytes: [UInt8]
  /// They follow each other without a gap.
  let pieces: [Piece]
  /// The longest row that is read, in bytes.
  let rowLimit: Int
}

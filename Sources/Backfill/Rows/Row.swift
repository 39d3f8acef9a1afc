/// One row of the input, its parts found.
package struct Row {
  package enum Content {
    case receipt(ArraySlice<UInt8>)
    case rejected(RejectReason)
  }

  /// The line on which it begins, from 1.
  package let line: Int
  /// Where it begins in the input once that is decompressed, in bytes.
  package let position: Int
  /// As it stands, without its line end.
  package let raw: ArraySlice<UInt8>
  /// Whether `raw` is a row; otherwise it is a line of a doubtful part of a table, or the beginning of a row too long.
  package let isWhole: Bool
  package var app: ArraySlice<UInt8>?
  package var userID: ArraySlice<UInt8>?
  package var content: Content
  /// How many fields it has, when the header of its table has another number.
  package var otherFieldCount: Int?

  init(line: Int, position: Int, raw: ArraySlice<UInt8>, isWhole: Bool = true, _ content: Content) {
    self.line = line
    self.position = position
    self.raw = raw
    self.isWhole = isWhole
    self.content = content
  }
}

/// One row of the input and its parts.
package struct Row {
  package enum Content {
    case receipt(ArraySlice<UInt8>)
    case rejected(RejectReason)
  }

  /// The line on which it begins, from 1.
  package let line: Int
  /// The offset of its first byte in the decompressed input.
  package let position: Int
  /// The row as written, without its line end.
  package let raw: ArraySlice<UInt8>
  /// Whether `raw` is a whole row.
  ///
  /// Otherwise it is a line of a doubtful span, or the beginning of a row that is too long.
  package let isWhole: Bool
  package var app: ArraySlice<UInt8>?
  package var userID: ArraySlice<UInt8>?
  /// By which Apple can be asked where the receipt is of no use.
  package var id: ArraySlice<UInt8>?
  package var content: Content
  /// The number of its fields, if it differs from the number of columns.
  package var otherFieldCount: Int?
  /// Whether the receipt stands in the member that an operator named.
  package var holdsNamedReceipt = false

  init(line: Int, position: Int, raw: ArraySlice<UInt8>, isWhole: Bool = true, _ content: Content) {
    self.line = line
    self.position = position
    self.raw = raw
    self.isWhole = isWhole
    self.content = content
  }

  /// Rejects the row, in which nothing can be trusted.
  mutating func refuse() { (app, userID, id, content) = (nil, nil, nil, .rejected(.malformedRow)) }
}

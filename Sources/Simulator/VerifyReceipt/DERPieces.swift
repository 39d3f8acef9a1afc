/// A sequence of DER elements of definite length, as `DERWriter` writes them.
///
/// Independent of the receipt reader, so that tests can compare the two.
struct DERPieces: Sequence, IteratorProtocol {
  struct Piece {
    let tag: UInt8
    let content: ArraySlice<UInt8>

    var pieces: [Piece] { Array(DERPieces(content)) }

    /// The value of an INTEGER of up to eight bytes.
    var integer: Int64? {
      guard tag == 0x02, (1...8).contains(content.count) else { return nil }
      let negative: Int64 = (content.first ?? 0) >= 0x80 ? -1 : 0
      return content.reduce(negative) { $0 << 8 | Int64($1) }
    }

    var text: String? { tag == 0x0C || tag == 0x16 ? String(validating: content, as: UTF8.self) : nil }
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Returns `nil` at the end, and for bytes that are not an element.
  mutating func next() -> Piece? {
    guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
    var count = Int(first)
    if first >= 0x80 {
      let digits = rest.prefix(Int(first & 0x7F))
      guard (1...4).contains(digits.count), digits.count == Int(first & 0x7F) else { return nil }
      count = digits.reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(digits.count)
    }
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Piece(tag: tag, content: rest.prefix(count))
  }
}

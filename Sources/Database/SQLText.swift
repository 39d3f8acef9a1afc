/// Rows rendered as SQL literals into one buffer.
struct SQLText {
  private(set) var bytes: [UInt8]
  let headLength: Int

  init(head: String) {
    bytes = Array(head.utf8)
    bytes.append(UInt8(ascii: " "))
    headLength = bytes.count
  }

  mutating func append(_ row: [SQLValue], isFirst: Bool) {
    bytes.append(isFirst ? Self.open : Self.comma)
    if !isFirst { bytes.append(Self.open) }
    for index in row.indices {
      if index > 0 { bytes.append(Self.comma) }
      append(row[index])
    }
    bytes.append(Self.close)
  }

  mutating func truncate(to length: Int) { bytes.removeLast(bytes.count - length) }

  /// The whole statement.
  func finished(with tail: String) -> [UInt8] {
    guard !tail.isEmpty else { return bytes }
    var whole = bytes
    whole.append(UInt8(ascii: " "))
    whole.append(contentsOf: tail.utf8)
    return whole
  }

  private static let open = UInt8(ascii: "(")
  private static let close = UInt8(ascii: ")")
  private static let comma = UInt8(ascii: ",")
  private static let quote = UInt8(ascii: "'")
  private static let null = Array("NULL".utf8)
  private static let utf8mb4 = Array("_utf8mb4 ".utf8)

  private mutating func append(_ value: SQLValue) {
    switch value {
    case .null: bytes.append(contentsOf: Self.null)
    case .integer(let number):
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      append(digits: number.magnitude)
    case .unsigned(let number): append(digits: number)
    case .bytes(let value): append(hexadecimal: value.span)
    case .text(let text):
      var text = text
      text.makeContiguousUTF8()
      let utf8 = text.utf8.span
      if Self.isHarmless(utf8) {
        append(quoted: utf8)
      } else {
        bytes.append(contentsOf: Self.utf8mb4)
        append(hexadecimal: utf8)
      }
    }
  }

  /// Printable ASCII without quotation marks and backslashes: the same between quotation marks under every SQL mode.
  private static func isHarmless(_ utf8: Span<UInt8>) -> Bool {
    for index in utf8.indices {
      let byte = utf8[index]
      guard byte >= 0x20, byte < 0x7F, byte != quote, byte != UInt8(ascii: "\\") else { return false }
    }
    return true
  }

  private mutating func append(quoted utf8: Span<UInt8>) {
    bytes.append(Self.quote)
    for index in utf8.indices { bytes.append(utf8[index]) }
    bytes.append(Self.quote)
  }

  private mutating func append(hexadecimal span: Span<UInt8>) {
    bytes.append(UInt8(ascii: "x"))
    bytes.append(Self.quote)
    bytes.append(addingCapacity: 2 * span.count) { output in
      for index in span.indices {
        output.append(Self.digit(span[index] >> 4))
        output.append(Self.digit(span[index] & 15))
      }
    }
    bytes.append(Self.quote)
  }

  private static func digit(_ nibble: UInt8) -> UInt8 {
    nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "A") - 10)
  }

  private mutating func append(digits number: UInt64) {
    var rest = number
    var count = 1
    while rest >= 10 {
      rest /= 10
      count += 1
    }
    let start = bytes.count
    for _ in 0..<count { bytes.append(UInt8(ascii: "0")) }
    rest = number
    for index in stride(from: start + count - 1, through: start, by: -1) {
      bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
  }
}

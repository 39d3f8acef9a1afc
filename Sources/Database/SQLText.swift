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

  /// Makes the rows a whole statement; `truncate` begins the next.
  mutating func finish(with tail: String) {
    guard !tail.isEmpty else { return }
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: tail.utf8)
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

  /// Sixteen bytes at a time: blobs are most of what is written, and this was most of the time.
  private mutating func append(hexadecimal span: Span<UInt8>) {
    bytes.append(UInt8(ascii: "x"))
    bytes.append(Self.quote)
    unsafe span.withUnsafeBytes { source in
      bytes.append(addingCapacity: 2 * source.count) { output in
        unsafe output.withUnsafeMutableBufferPointer { target, count in
          let target = UnsafeMutableRawBufferPointer(target)
          let whole = source.count & ~15
          for offset in stride(from: 0, to: whole, by: 16) {
            let digits = Self.digits(of: unsafe source.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self))
            unsafe target.storeBytes(of: digits, toByteOffset: 2 * offset, as: SIMD16<UInt16>.self)
          }
          for offset in whole..<source.count {
            let pair = Self.digits(of: unsafe SIMD16(repeating: source[offset]))[0]
            unsafe target.storeBytes(of: pair, toByteOffset: 2 * offset, as: UInt16.self)
          }
          count = 2 * source.count
        }
      }
    }
    bytes.append(Self.quote)
  }

  /// Two digits for each byte, the first of them in the lower half: every machine Swift has on Linux stores that first.
  private static func digits(of bytes: SIMD16<UInt8>) -> SIMD16<UInt16> {
    let pairs = SIMD16<UInt16>(truncatingIfNeeded: bytes)
    let nibbles = (pairs &>> 4) | ((pairs & 15) &<< 8)
    // A nibble and 6 reach bit 4 from ten on; "A" lies 7 beyond the successor of "9".
    let letters = ((nibbles &+ 0x0606) &>> 4) & 0x0101
    return (nibbles &+ 0x3030 &+ letters &* 7)
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

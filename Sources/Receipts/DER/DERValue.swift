import Time

/// Values out of single elements; nil for what is none.
enum DERValue {
  /// A whole number of at most 64 bits, two's complement, in any length that BER allows.
  static func integer(in bytes: Span<UInt8>, _ content: Range<Int>) -> Int64? {
    guard !content.isEmpty else { return nil }
    var value: Int64 = bytes[content.lowerBound] & 0x80 == 0 ? 0 : -1
    for index in content {
      guard value >= Int64.min >> 8, value <= Int64.max >> 8 else { return nil }
      value = value << 8 | Int64(bytes[index])
    }
    return value
  }

  /// Text of any of the string types that receipts use, nil unless it is UTF-8.
  static func text(in bytes: Span<UInt8>, _ content: Range<Int>) -> String? {
    guard let text = try? UTF8Span(validating: bytes.extracting(content)) else { return nil }
    return String(copying: text)
  }

  /// An RFC 3339 date as receipts write it.
  static func date(in bytes: Span<UInt8>, _ content: Range<Int>) -> Timestamp? {
    Timestamp(rfc3339: bytes.extracting(content))
  }
}

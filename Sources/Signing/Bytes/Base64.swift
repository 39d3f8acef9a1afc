/// Strict base64 in the two alphabets of JOSE, with exactly one encoding for each value.
///
/// No white space, no foreign letters, no bits beyond the last byte: a signer must not be able to write the same bytes
/// in two ways.
public struct Base64: Sendable {
  private let letters: [UInt8]
  /// The value of each letter; `none` for other bytes.
  private let values: [UInt8]
  private let isPadded: Bool

  private static let none: UInt8 = 0xFF

  private init(last two: String, isPadded: Bool) {
    letters = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + two).utf8)
    var values = [UInt8](repeating: Self.none, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    self.values = values
    self.isPadded = isPadded
  }

  /// RFC 4648 section 5 without padding, as the segments of a JWS (RFC 7515).
  public static let url = Self(last: "-_", isPadded: false)

  /// RFC 4648 section 4 with padding, as the certificates in `x5c`.
  public static let standard = Self(last: "+/", isPadded: true)

  /// Returns the bytes, or `nil` unless `text` is exactly what `encode` writes.
  public func decode(_ text: [UInt8]) -> [UInt8]? { decode(text, in: text.indices) }

  /// Returns the bytes of a part of `text`.
  package func decode(_ text: [UInt8], in range: Range<Int>) -> [UInt8]? {
    var end = range.upperBound
    if isPadded {
      guard range.count.isMultiple(of: 4) else { return nil }
      var padding = 0
      while padding < 2, end > range.lowerBound, text[end - 1] == UInt8(ascii: "=") {
        end -= 1
        padding += 1
      }
    }
    let count = end - range.lowerBound
    let (whole, rest) = (count / 4, count % 4)
    guard rest != 1 else { return nil }
    let size = whole * 3 + (rest == 0 ? 0 : rest - 1)
    // Every letter's value is below 64: any other byte sets the high bits, which are checked once at the end.
    var seen: UInt8 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { output, filled in
      filled = size
      unsafe text.withUnsafeBufferPointer { text in
        unsafe values.withUnsafeBufferPointer { values in
          var (from, to) = (range.lowerBound, 0)
          for _ in 0..<whole {
            let a = unsafe values[Int(text[from])]
            let b = unsafe values[Int(text[from + 1])]
            let c = unsafe values[Int(text[from + 2])]
            let d = unsafe values[Int(text[from + 3])]
            seen |= a | b | c | d
            unsafe output[to] = a << 2 | b >> 4
            unsafe output[to + 1] = b << 4 | c >> 2
            unsafe output[to + 2] = c << 6 | d
            from += 4
            to += 3
          }
          guard rest > 1 else { return }
          let a = unsafe values[Int(text[from])]
          let b = unsafe values[Int(text[from + 1])]
          seen |= a | b
          unsafe output[to] = a << 2 | b >> 4
          if rest == 2 {
            if b & 0b1111 != 0 { seen = Self.none }
          } else {
            let c = unsafe values[Int(text[from + 2])]
            seen |= c
            unsafe output[to + 1] = b << 4 | c >> 2
            if c & 0b11 != 0 { seen = Self.none }
          }
        }
      }
    }
    return seen < 64 ? bytes : nil
  }

  public func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let a = bytes[index]
      let b = index + 1 < bytes.count ? bytes[index + 1] : nil
      let c = index + 2 < bytes.count ? bytes[index + 2] : nil
      text.append(letters[Int(a >> 2)])
      text.append(letters[Int((a & 0b11) << 4 | (b ?? 0) >> 4)])
      if let b { text.append(letters[Int((b & 0b1111) << 2 | (c ?? 0) >> 6)]) }
      if let c { text.append(letters[Int(c & 0b11_1111)]) }
      index += 3
    }
    while isPadded, !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    return text
  }
}

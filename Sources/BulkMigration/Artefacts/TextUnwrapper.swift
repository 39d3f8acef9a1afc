import JSON
import Receipts
import Signing

/// What forms, pages and databases wrap around an artefact, taken off one layer at a time.
///
/// Only what is told without doubt by its first bytes: an artefact is proven by its signature, not by how it was kept.
/// Damage within base64 is mended where receipts are read (`LenientBase64`).
enum TextUnwrapper {
  /// The text without its outermost layer; nil when there is none that is known.
  static func unwrapped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    if let bytes = hexadecimal(text) { return bytes }
    if let value = form(text) { return value }
    guard let first = text.first else { return nil }
    if first == UInt8(ascii: "%") || (first == UInt8(ascii: "\"") && text.contains(UInt8(ascii: "%"))) {
      if let plain = PercentEscapes.decoded(text) { return plain }
    }
    if let plain = withoutEntities(text) { return plain }
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return unquoted(text) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return withoutBackslashes(text) }
    if text.starts(with: "eyJ".utf8), !text.contains(UInt8(ascii: ".")) { return object(inBase64: text) }
    return nil
  }

  /// White space and a byte order mark around it, and NUL bytes of fixed-width columns behind it.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = bytes
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    while let first = text.first, first <= 0x20 { text.removeFirst() }
    while let last = text.last, last <= 0x20 { text.removeLast() }
    return text
  }

  /// `0x…`, `X'…'`, or digits that begin as a receipt or its base64 does.
  private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var digits = text
    if text.starts(with: "0x".utf8) || text.starts(with: "0X".utf8) || text.starts(with: "\\x".utf8) {
      digits = text.dropFirst(2)
    } else if text.starts(with: "x'".utf8) || text.starts(with: "X'".utf8), text.last == UInt8(ascii: "'") {
      digits = text.dropFirst(2).dropLast()
    } else {
      let begins = ["3082", "3083", "3080", "4D49", "4d49", "65776F", "65776f"].contains { text.starts(with: $0.utf8) }
      guard begins, text.count > 400 else { return nil }
    }
    return digits.isEmpty ? nil : Hexadecimal.decode(Array(digits))
  }

  /// `receipt-data=…&password=…`, the receipt alone.
  private static func form(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let names = ["receipt-data=", "receipt_data=", "receiptData=", "receipt="]
    for part in text.split(separator: UInt8(ascii: "&")).prefix(16) {
      guard let name = names.first(where: { part.starts(with: $0.utf8) }) else { continue }
      let value = part.dropFirst(name.utf8.count)
      return PercentEscapes.decoded(value) ?? Array(value)
    }
    return nil
  }

  /// HTML's names for the characters that stand in base64, JSON and JWS.
  private static let entities: [(name: String, byte: UInt8)] = [
    ("amp", UInt8(ascii: "&")), ("quot", UInt8(ascii: "\"")), ("apos", UInt8(ascii: "'")), ("lt", UInt8(ascii: "<")),
    ("gt", UInt8(ascii: ">")), ("plus", UInt8(ascii: "+")), ("equals", UInt8(ascii: "=")), ("sol", UInt8(ascii: "/")),
    ("lbrace", UInt8(ascii: "{")), ("rbrace", UInt8(ascii: "}")), ("colon", UInt8(ascii: ":")),
    ("comma", UInt8(ascii: ",")), ("lowbar", UInt8(ascii: "_")), ("nbsp", 0x20), ("NewLine", 0x0A), ("bsol", 0x5C),
  ]

  /// Nil when there are none.
  private static func withoutEntities(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "&")), text.contains(UInt8(ascii: ";")) else { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "&"),
        let end = text[index...].prefix(10).firstIndex(of: UInt8(ascii: ";")),
        let byte = entity(String(decoding: text[(index + 1)..<end], as: UTF8.self))
      {
        plain.append(byte)
        index = end + 1
      } else {
        plain.append(text[index])
        index += 1
      }
    }
    return plain.count == text.count ? nil : plain
  }

  private static func entity(_ name: String) -> UInt8? {
    if name.hasPrefix("#x") || name.hasPrefix("#X") { return UInt8(name.dropFirst(2), radix: 16) }
    if name.hasPrefix("#") { return UInt8(name.dropFirst()) }
    return entities.first { $0.name == name }?.byte
  }

  private static func unquoted(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    if let string = (try? JSONReader.read(Array(text), limits: JSONLimits(bytes: text.count, depth: 4)))?.string {
      return Array(string.utf8)
    }
    guard text.count > 2, text.first == text.last else { return nil }
    return Array(text.dropFirst().dropLast())
  }

  /// JSON whose quotes were escaped once more, or doubled as in a table.
  private static func withoutBackslashes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    let second = text.dropFirst().first { $0 > 0x20 }
    guard let second else { return nil }
    if second == backslash {
      var plain: [UInt8] = []
      plain.reserveCapacity(text.count)
      var isEscaped = false
      for byte in text {
        if byte == backslash, !isEscaped {
          isEscaped = true
        } else {
          plain.append(byte)
          isEscaped = false
        }
      }
      return plain
    }
    guard second == quote, text.dropFirst().drop(while: { $0 <= 0x20 }).starts(with: [quote, quote]) else { return nil }
    var plain: [UInt8] = []
    var wasQuote = false
    for byte in text {
      if byte == quote, wasQuote {
        wasQuote = false
        continue
      }
      wasQuote = byte == quote
      plain.append(byte)
    }
    return plain
  }

  /// A whole JSON object in base64, as some clients send requests.
  private static func object(inBase64 text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let bytes = Base64.standard.decode(Array(text)) ?? Base64.url.decode(Array(text)),
      (try? JSONReader.read(bytes, limits: JSONLimits(bytes: bytes.count, depth: 64)))?.object != nil
    else { return nil }
    return bytes
  }
}

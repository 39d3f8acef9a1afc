/// Text from outside, made fit for a line of a log or a terminal: no control characters, not longer than a limit.
///
/// Escaped are C0 and C1 controls, line and paragraph separators, and the marks that change the direction of writing
/// (a terminal obeys them, and a log that shows what it does not say is worse than none).
package enum SafeText {
  /// `text` with every dangerous scalar as `\n` or `\u001b`, cut with "…" after `limit` bytes.
  package static func escaped(_ text: String, limit: Int, quotes: Bool = false) -> String {
    var out: [UInt8] = []
    append(text, to: &out, limit: limit, quotes: quotes)
    return String(decoding: out, as: UTF8.self)
  }

  /// Appends what `escaped` gives; with `quotes`, `"` and `\` are escaped too, which makes it the inside of a JSON string.
  static func append(_ text: String, to out: inout [UInt8], limit: Int, quotes: Bool) {
    var room = limit
    for scalar in text.unicodeScalars {
      let length = UTF8.width(scalar)
      guard length <= room else {
        out += "…".utf8
        return
      }
      room -= length
      switch scalar {
      case "\n": out += "\\n".utf8
      case "\r": out += "\\r".utf8
      case "\t": out += "\\t".utf8
      case "\"" where quotes, "\\" where quotes: out += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar.value)]
      default:
        if scalar.isASCII, scalar.value >= 0x20, scalar.value != 0x7f {
          out.append(UInt8(truncatingIfNeeded: scalar.value))
        } else if isDangerous(scalar.value) {
          let digits = String(scalar.value, radix: 16)
          out += "\\u".utf8
          out += String(repeating: "0", count: 4 - digits.count).utf8
          out += digits.utf8
        } else {
          out += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
      }
    }
  }

  /// The same text with every dangerous scalar but line feeds and tabs as `\r` or `\u001b`, in UTF-8.
  ///
  /// Of JSON the outcome is the same JSON: outside of strings it has no such scalar.
  package static func escaped(lines bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(where: mayBeDangerous) else { return bytes }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count + 64)
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      if line.startIndex > bytes.startIndex { out.append(UInt8(ascii: "\n")) }
      for (index, part) in line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).enumerated() {
        if index > 0 { out.append(UInt8(ascii: "\t")) }
        if part.contains(where: mayBeDangerous) {
          append(String(decoding: part, as: UTF8.self), to: &out, limit: .max, quotes: false)
        } else {
          out += part
        }
      }
    }
    return out
  }

  /// Whether a byte is a control character, or not ASCII.
  private static func mayBeDangerous(_ byte: UInt8) -> Bool {
    byte < 0x20 ? byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t") : byte >= 0x7f
  }

  private static func isDangerous(_ value: UInt32) -> Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200b, 0x200e...0x200f, 0x2028...0x202e, 0x2060...0x2069, 0xfeff: true
    default: false
    }
  }
}

import Signing

/// Base64 as it comes out of forms, URLs, tables and logs: everything mended that can be mended without doubt.
///
/// Lenient on purpose: what was signed is proven by its signature, not by how it was written down.
struct LenientBase64 {
  let bytes: [UInt8]
  private(set) var repairs: Set<ReceiptRepair> = []

  /// Rounds of percent escapes that are undone.
  private static let rounds = 3

  /// Nil when something remains that is no base64.
  init?(_ given: ArraySlice<UInt8>) {
    var text = Array(given)
    for _ in 0..<Self.rounds {
      guard let plain = PercentEscapes.decoded(text[...]) else { break }
      text = plain
      repairs.insert(.percentEscapes)
    }
    if let plain = Self.withoutEscapes(text) {
      text = plain
      repairs.insert(.escapes)
    }
    let bare = Self.unquoted(ReceiptText.trimmed(text))
    if bare.count < ReceiptText.trimmed(text).count { repairs.insert(.quotes) }
    guard var letters = Letters(bare, spaceIsPlus: true) else { return nil }
    // A space may have been a plus, or have been put in; the receipt's own length tells.
    if letters.repairs.contains(.spacesForPlus), !letters.isWhole, let other = Letters(bare, spaceIsPlus: false),
      other.isWhole
    {
      letters = other
    }
    repairs.formUnion(letters.repairs)
    bytes = letters.bytes
  }

  private static func unquoted(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isQuote(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\") || byte <= 0x20
    }
    var text = text
    while let first = text.first, isQuote(first) { text.removeFirst() }
    while let last = text.last, isQuote(last) { text.removeLast() }
    return text
  }

  /// JSON's: `\/`, `\n`, `\u002B`; nil when there are none.
  private static func withoutEscapes(_ text: [UInt8]) -> [UInt8]? {
    guard text.contains(UInt8(ascii: "\\")) else { return nil }
    var plain: [UInt8] = []
    plain.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      guard text[index] == UInt8(ascii: "\\"), index + 1 < text.count else {
        plain.append(text[index])
        index += 1
        continue
      }
      switch text[index + 1] {
      case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): plain.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "u"):
        let digits = text[(index + 2)...].prefix(4).compactMap(Hexadecimal.value)
        guard digits.count == 4, digits[0] == 0, digits[1] == 0 else { return nil }
        plain.append(digits[2] << 4 | digits[3])
        index += 4
      case let other: plain.append(other)
      }
      index += 2
    }
    return plain
  }
}

/// The letters of base64 in either alphabet, with what stands between them.
private struct Letters {
  private(set) var bytes: [UInt8] = []
  private(set) var repairs: Set<ReceiptRepair> = []

  init?(_ text: ArraySlice<UInt8>, spaceIsPlus: Bool) {
    bytes.reserveCapacity(text.count / 4 * 3 + 3)
    var (bits, count, letters, padding): (UInt32, Int, Int, Int) = (0, 0, 0, 0)
    var last: UInt8 = 0
    for byte in text {
      defer { last = byte }
      let value: UInt8
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"): value = 62
      case UInt8(ascii: "/"): value = 63
      case UInt8(ascii: "-"):
        value = 62
        repairs.insert(.urlSafeAlphabet)
      case UInt8(ascii: "_"):
        value = 63
        repairs.insert(.urlSafeAlphabet)
      case UInt8(ascii: " ") where spaceIsPlus && last != UInt8(ascii: "\n") && last != UInt8(ascii: "\r"):
        value = 62
        repairs.insert(.spacesForPlus)
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        repairs.insert(.lineBreaks)
        continue
      case UInt8(ascii: "="):
        padding += 1
        continue
      default: return nil
      }
      guard padding == 0 else { return nil }
      letters += 1
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    guard letters > 0 else { return nil }
    if (letters + padding) % 4 != 0 { repairs.insert(.missingPadding) }
  }

  /// Whether these are as many bytes as a receipt's beginning says, or text.
  var isWhole: Bool {
    guard let first = bytes.first else { return false }
    guard first == DERTag.sequence.rawValue else { return bytes.allSatisfy { $0 < 0x80 } }
    var reader = DERReader()
    var offset = 0
    let element = try? reader.element(in: bytes.span, at: &offset, before: bytes.count)
    return element?.end == bytes.count
  }
}

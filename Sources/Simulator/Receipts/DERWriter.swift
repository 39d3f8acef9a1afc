/// DER as in Apple's receipts: tag, length, content.
enum DERWriter {
  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

  static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, Array(parts.joined())) }

  static func set(_ parts: [[UInt8]]) -> [UInt8] { element(0x31, Array(parts.joined())) }

  static func octets(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }

  static func utf8(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

  static func ia5(_ text: String) -> [UInt8] { element(0x16, Array(text.utf8)) }

  static let null: [UInt8] = [0x05, 0x00]

  static func integer(_ value: Int64) -> [UInt8] {
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    while bytes.count > 1, (bytes[0] == 0 && bytes[1] < 0x80) || (bytes[0] == 0xFF && bytes[1] >= 0x80) {
      bytes.removeFirst()
    }
    return element(0x02, bytes)
  }

  private static func length(_ count: Int) -> [UInt8] {
    if count < 0x80 { return [UInt8(count)] }
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }.drop { $0 == 0 }
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}

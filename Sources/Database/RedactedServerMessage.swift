/// A server message without the statement's values.
///
/// The server quotes values: `Duplicate entry 'secret' for key 'PRIMARY'`. Quotations stay in errors that quote only
/// names of the schema. In others all text between the first and the last quotation mark is removed.
struct RedactedServerMessage {
  private static let limit = 400

  let text: String

  init(number: Int, _ raw: String) {
    let cleaned =
      switch number {
      case 1062, 1586: "duplicate entry\(Self.key(in: raw))"
      case let number where Self.quotesNames(number): raw
      default: Self.withoutQuoted(raw)
      }
    text = "\(number) \(cleaned.prefix(Self.limit))"
  }

  /// Errors that quote only databases, tables, columns, users or hosts.
  ///
  /// From 2000 on they are the client library's.
  private static func quotesNames(_ number: Int) -> Bool {
    switch number {
    case 1005, 1007, 1008, 1040, 1044, 1045, 1048, 1049, 1050, 1051, 1052, 1054, 1060, 1061, 1072, 1091, 1109, 1136,
      1142, 1143, 1146, 1213, 1205, 1264, 1364, 1406, 1698, 2000..<3000:
      true
    default: false
    }
  }

  private static func key(in raw: String) -> String {
    let bytes = Array(raw.utf8)
    let marker = Array(" for key '".utf8)
    guard bytes.count >= marker.count else { return "" }
    for start in stride(from: bytes.count - marker.count, through: 0, by: -1)
    where bytes[start...].starts(with: marker) {
      return String(decoding: bytes[start...], as: UTF8.self)
    }
    return ""
  }

  private static func withoutQuoted(_ raw: String) -> String {
    let bytes = Array(raw.utf8)
    let isQuote = { (byte: UInt8) in byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") }
    guard let first = bytes.firstIndex(where: isQuote), let last = bytes.lastIndex(where: isQuote) else { return raw }
    return String(decoding: bytes[..<first], as: UTF8.self) + "'…'"
      + String(decoding: bytes[(last + 1)...], as: UTF8.self)
  }
}

/// The blocks of a PEM file (RFC 7468), between `-----BEGIN label-----` and `-----END label-----`.
enum PEM {
  /// Returns the DER of every block with this label; text outside of blocks and other labels are skipped.
  ///
  /// Returns `nil` if a block does not end or is not base64.
  static func blocks(_ label: String, in text: [UInt8]) -> [[UInt8]]? {
    var blocks: [[UInt8]] = []
    var body: [UInt8]?
    let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    for line in lines {
      let isBoundary = line.starts(with: "-----".utf8)
      if line.elementsEqual("-----BEGIN \(label)-----".utf8) {
        guard body == nil else { return nil }
        body = []
      } else if line.elementsEqual("-----END \(label)-----".utf8) {
        guard let encoded = body, let block = Base64.standard.decode(encoded) else { return nil }
        blocks.append(block)
        body = nil
      } else if body != nil {
        guard !isBoundary else { return nil }
        body?.append(contentsOf: line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
      }
    }
    return body == nil ? blocks : nil
  }

  static func encode(_ der: [UInt8], label: String) -> [UInt8] {
    var text = Array("-----BEGIN \(label)-----\n".utf8)
    let encoded = Base64.standard.encode(der)
    for start in stride(from: 0, to: encoded.count, by: 64) {
      text += encoded[start..<min(start + 64, encoded.count)]
      text.append(UInt8(ascii: "\n"))
    }
    return text + Array("-----END \(label)-----\n".utf8)
  }
}

/// A property list as NeXTSTEP wrote it, `{ "key" = "value"; … }`: one level of strings, bounded.
struct PropertyList {
  enum Failure: Error, Hashable {
    case truncated
    case malformed
    /// The same key twice: readers would disagree about what was signed.
    case repeatedKey
    case tooMany
  }

  /// Apple's have 29 at the most.
  private static let limit = 64

  private var values: [String: Range<Int>] = [:]
  /// The names in the order in which they are written.
  private var order: [String] = []
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) throws(Failure) {
    self.bytes = bytes
    var scanner = PropertyListScanner(bytes)
    try scanner.expect(UInt8(ascii: "{"))
    while try !scanner.accept(UInt8(ascii: "}")) {
      let key = try scanner.string()
      try scanner.expect(UInt8(ascii: "="))
      let value = try scanner.string()
      try scanner.expect(UInt8(ascii: ";"))
      guard values.count < Self.limit else { throw .tooMany }
      guard let name = String(validating: bytes[key], as: UTF8.self) else { throw .malformed }
      guard values.updateValue(value, forKey: name) == nil else { throw .repeatedKey }
      order.append(name)
    }
  }

  func bytes(_ key: String) -> [UInt8]? { values[key].map { Array(bytes[$0]) } }

  func text(_ key: String) -> String? { values[key].flatMap { String(validating: bytes[$0], as: UTF8.self) } }

  var keys: Set<String> { Set(values.keys) }

  /// Every pair as it is written, in its order; bytes that are not UTF-8 become U+FFFD.
  var pairs: [TransactionReceipt.SignedPair] {
    order.compactMap { key in
      values[key].map { TransactionReceipt.SignedPair(key: key, value: String(decoding: bytes[$0], as: UTF8.self)) }
    }
  }
}

private struct PropertyListScanner {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private mutating func skipSpace() throws(PropertyList.Failure) {
    while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 }
    guard offset < bytes.count else { throw .truncated }
  }

  mutating func expect(_ byte: UInt8) throws(PropertyList.Failure) {
    guard try accept(byte) else { throw .malformed }
  }

  mutating func accept(_ byte: UInt8) throws(PropertyList.Failure) -> Bool {
    try skipSpace()
    guard bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  /// Within quotes, or a bare word; Apple's have no escapes.
  mutating func string() throws(PropertyList.Failure) -> Range<Int> {
    try skipSpace()
    if bytes[offset] == UInt8(ascii: "\"") {
      let start = offset + 1
      guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) else { throw .truncated }
      guard !bytes[start..<end].contains(UInt8(ascii: "\\")) else { throw .malformed }
      offset = end + 1
      return start..<end
    }
    let start = offset
    while offset < bytes.count, Self.isWord(bytes[offset]) { offset += 1 }
    guard offset > start else { throw .malformed }
    return start..<offset
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

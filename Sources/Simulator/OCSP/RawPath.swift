/// The variable part of a request's target, for paths whose decoded form is ambiguous.
enum RawPath {
  /// Returns the rest of the path after `prefix`, percent-decoded; `nil` without that prefix.
  static func rest(of target: String, after prefix: String) -> [UInt8]? {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard path.starts(with: prefix.utf8) else { return nil }
    var bytes: [UInt8] = []
    var rest = path.dropFirst(prefix.utf8.count).makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}

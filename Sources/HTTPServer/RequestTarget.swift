/// The unambiguous parts of a request line's target.
///
/// `path` names one thing only: percent escapes are decoded once, and empty segments (`//verifyReceipt`) collapse.
/// Input that a proxy might read differently is rejected: dot segments, an escaped slash or backslash, control
/// characters, bytes that are not UTF-8.
struct RequestTarget {
  let path: String
  /// The unchecked text between `http://` and the path in an absolute target.
  let authority: String?

  /// - Parameter takesEscapedSlashes: for servers without a proxy.
  init?(_ raw: String, takesEscapedSlashes: Bool = false) {
    if let end = Self.plainPath(raw.utf8Span.span) {
      path = end == raw.utf8.count ? raw : String(decoding: raw.utf8.prefix(end), as: UTF8.self)
      authority = nil
      return
    }
    var target = raw[...]
    if let absolute = Self.absolute(target) {
      authority = String(absolute.authority)
      target = absolute.origin
    } else {
      authority = nil
    }
    let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    let written = target[..<end]
    guard raw.utf8Span.span.holdsOnly({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    if written == "*" {
      path = "*"
      return
    }
    guard written.utf8.first == UInt8(ascii: "/") else { return nil }
    var bytes: [UInt8] = []
    for segment in written.utf8.split(separator: UInt8(ascii: "/")) {
      guard let decoded = Self.decoded(segment) else { return nil }
      guard decoded != [0x2E], decoded != [0x2E, 0x2E] else { return nil }
      guard !decoded.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0x5C }) else { return nil }
      guard takesEscapedSlashes || !decoded.contains(0x2F) else { return nil }
      bytes.append(0x2F)
      bytes += decoded
    }
    if bytes.isEmpty || written.utf8.last == UInt8(ascii: "/") { bytes.append(0x2F) }
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    path = text
  }

  /// Returns the query's pairs in order, escapes decoded and `+` read as a space; a name without `=` has an empty
  /// value.
  static func query(of raw: String) -> [(name: String, value: String)] {
    guard let mark = raw.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return raw.utf8[raw.utf8.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { pair in
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let value = equals == pair.endIndex ? pair[equals...] : pair[pair.index(after: equals)...]
      return (formText(pair[..<equals]), formText(value))
    }
  }

  /// Returns the parts of a target written for a proxy: `http://authority/path`.
  static func absolute(_ target: Substring) -> (authority: Substring, origin: Substring)? {
    guard target.utf8.first != UInt8(ascii: "/") else { return nil }
    for scheme in ["http://", "https://"] where target.utf8.starts(with: scheme.utf8) {
      let rest = target.dropFirst(scheme.count)
      guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else { return (rest, "/") }
      return (rest[..<slash], rest[slash...])
    }
    return nil
  }

  /// Returns the end of the path in a target without anything to decode, collapse or reject, as nearly all are.
  private static func plainPath(_ target: Span<UInt8>) -> Int? {
    guard !target.isEmpty, target[0] == UInt8(ascii: "/") else { return nil }
    var end = 0
    var previous: UInt8 = 0
    while end < target.count, target[end] != UInt8(ascii: "?") {
      let byte = target[end]
      guard byte != UInt8(ascii: "%"), byte != UInt8(ascii: "\\") else { return nil }
      if previous == UInt8(ascii: "/"), byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return nil }
      previous = byte
      end += 1
    }
    return target.holdsOnly { $0 > 0x20 && $0 < 0x7F } ? end : nil
  }

  private static func decoded(_ text: Substring.UTF8View.SubSequence) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func formText(_ text: Substring.UTF8View.SubSequence) -> String {
    let spaced = text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
    var bytes: [UInt8] = []
    var index = 0
    while index < spaced.count {
      if spaced[index] == UInt8(ascii: "%"), index + 2 < spaced.count,
        let high = hexadecimal(spaced[index + 1]), let low = hexadecimal(spaced[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(spaced[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// The first line of a request: `POST /notifications HTTP/1.1`.
struct RequestLine: Sendable {
  let method: String
  let target: String
  let version: HTTPVersion

  /// Reads `line`, which contains no control byte but tabs, with exactly one space between its parts.
  init(_ input: Span<UInt8>, _ line: Range<Int>) throws(RequestParseError) {
    var first: Int?
    var second: Int?
    for index in line where input[index].isBlank {
      guard input[index] == 0x20, second == nil else { throw .requestLine }
      if first == nil { first = index } else { second = index }
    }
    guard let first, let second else { throw .requestLine }
    method = try Self.method(input.extracting(line.lowerBound..<first))
    version = try Self.version(input.extracting(second + 1..<line.upperBound))
    target = try Self.target(input.extracting(first + 1..<second))
  }

  /// Returns a method of capital letters and hyphens, as all registered ones are.
  ///
  /// Case-insensitive readers would read another method. `CONNECT` would request a tunnel.
  private static func method(_ bytes: Span<UInt8>) throws(RequestParseError) -> String {
    guard (1...longestMethod).contains(bytes.count), bytes.holdsOnly({ $0.isCapital || $0 == UInt8(ascii: "-") }),
      let method = String(ascii: bytes), method != "CONNECT"
    else { throw .method }
    return method
  }

  private static func version(_ bytes: Span<UInt8>) throws(RequestParseError) -> HTTPVersion {
    guard bytes.count == 8, bytes[0] == UInt8(ascii: "H"), bytes[1] == UInt8(ascii: "T"), bytes[2] == UInt8(ascii: "T"),
      bytes[3] == UInt8(ascii: "P"), bytes[4] == UInt8(ascii: "/"), bytes[5].isDigit, bytes[6] == UInt8(ascii: "."),
      bytes[7].isDigit
    else { throw .version }
    switch (bytes[5], bytes[7]) {
    case (UInt8(ascii: "1"), UInt8(ascii: "1")): return .http11
    case (UInt8(ascii: "1"), UInt8(ascii: "0")): return .http10
    case _: throw .unsupportedVersion
    }
  }

  /// Returns a target of visible ASCII without a fragment, which readers treat differently.
  ///
  /// Characters that RFC 3986 requires to be escaped are accepted if no reader treats them as a delimiter: user IDs
  /// contain `|`, and browsers' URL rules leave it unchanged.
  private static func target(_ bytes: Span<UInt8>) throws(RequestParseError) -> String {
    guard !bytes.isEmpty, bytes.holdsOnly({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }),
      let target = String(ascii: bytes)
    else { throw .target }
    return target
  }

  private static let longestMethod = 24
}

package enum HTTPVersion: Hashable, Sendable {
  case http10, http11
}

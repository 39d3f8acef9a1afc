/// The framing of a request's body.
///
/// An ambiguous length is how requests are smuggled past a proxy (RFC 9112, 6.1 and 6.3): both headers, two lengths, or
/// a coding other than `chunked` are errors. RFC 9112 permits merging equal lengths; no client sends two, so they are
/// rejected like different ones.
package enum BodyFraming: Hashable, Sendable {
  case length(Int)
  case chunked

  init(_ fields: HTTPHeaders, version: HTTPVersion) throws(RequestParseError) {
    let lengths = fields.find("Content-Length")
    let encodings = fields.find("Transfer-Encoding")
    guard lengths.count == 0 || encodings.count == 0 else { throw .lengthAndEncoding }
    guard lengths.count <= 1 else { throw .repeatedContentLength }
    guard encodings.count <= 1 else { throw .repeatedTransferEncoding }
    if encodings.count == 1 {
      // HTTP/1.0 does not define the header, so a proxy of that version passes it on unread.
      guard version == .http11, fields.equals("Transfer-Encoding", "chunked") else { throw .transferEncoding }
      self = .chunked
    } else if let digits = lengths.first {
      guard let length = Self.length(fields.packed.span.extracting(digits)) else { throw .contentLength }
      self = .length(length)
    } else {
      self = .length(0)
    }
  }

  /// Parses only decimal digits without leading zeros; `Int.init` would accept a sign.
  private static func length(_ digits: Span<UInt8>) -> Int? {
    guard (1...mostDigits).contains(digits.count), digits.holdsOnly(\.isDigit),
      digits.count == 1 || digits[0] != UInt8(ascii: "0")
    else { return nil }
    var length = 0
    for index in digits.indices { length = length * 10 + Int(digits[index] - UInt8(ascii: "0")) }
    return length
  }

  /// Far above every limit, far below overflow.
  private static let mostDigits = 15
}

/// Where a request's body ends.
///
/// A message whose length can be read in two ways is how requests are smuggled past a proxy (RFC 9112, 6.1 and 6.3):
/// both headers, two lengths, or a coding other than `chunked` make none. RFC 9112 lets equal lengths be merged; no
/// client sends two, so they are refused like different ones.
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
      // In HTTP/1.0 the header says nothing, so that a proxy of that version passes it on without looking at it.
      guard version == .http11, fields.equals("Transfer-Encoding", "chunked") else { throw .transferEncoding }
      self = .chunked
    } else if let digits = lengths.first {
      guard let length = Self.length(fields.packed.span.extracting(digits)) else { throw .contentLength }
      self = .length(length)
    } else {
      self = .length(0)
    }
  }

  /// Reads decimal digits alone, without leading zeros; `Int.init` would take a sign.
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

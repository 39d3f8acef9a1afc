/// Where a request's body ends.
///
/// A message whose length can be read in two ways is how requests are smuggled past a proxy (RFC 9112, 6.1 and 6.3):
/// both headers, two lengths, or a coding other than `chunked` make none. RFC 9112 lets equal lengths be merged; no
/// client sends two, so they are refused like different ones.
package enum BodyFraming: Hashable, Sendable {
  case length(Int)
  case chunked

  init(_ fields: HTTPHeaders, version: HTTPVersion) throws(RequestFault) {
    let lengths = fields.occurrences(of: "Content-Length")
    let encodings = fields.occurrences(of: "Transfer-Encoding")
    guard lengths == 0 || encodings == 0 else { throw .lengthAndEncoding }
    guard lengths <= 1 else { throw .repeatedContentLength }
    guard encodings <= 1 else { throw .repeatedTransferEncoding }
    if encodings == 1 {
      // In HTTP/1.0 the header says nothing, so that a proxy of that version passes it on without looking at it.
      guard version == .http11, fields.equals("Transfer-Encoding", "chunked") else { throw .transferEncoding }
      self = .chunked
    } else if let text = fields["Content-Length"] {
      guard let length = Self.length(text) else { throw .contentLength }
      self = .length(length)
    } else {
      self = .length(0)
    }
  }

  /// Reads decimal digits alone, without leading zeros; `Int.init` would take a sign.
  private static func length(_ text: String) -> Int? {
    guard (1...mostDigits).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit), text == "0" || text.first != "0"
    else { return nil }
    return Int(text)
  }

  /// Far above every limit, far below overflow.
  private static let mostDigits = 15
}

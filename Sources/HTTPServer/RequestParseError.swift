/// The reason why bytes are not an unambiguous HTTP/1.1 request.
///
/// A server that guesses can disagree with a proxy about the end of a request; the bytes after it are then a second
/// request that the proxy never checked. So every fault is answered with `status`, and the connection is closed. The
/// section numbers are those of RFC 9112.
package enum RequestParseError: String, Error, Hashable, Sendable, CaseIterable {
  // MARK: Bytes (2.2)

  /// A CR that no LF follows.
  case bareCarriageReturn
  /// An LF without a CR before it.
  case bareLineFeed
  /// NUL or another control byte except the horizontal tab.
  case controlByte

  // MARK: Request line (3)

  /// The request line follows more than one empty line.
  case emptyLine
  /// A request line other than three parts with one space between each; HTTP/0.9 has two.
  case requestLine
  /// `CONNECT`, or a method that is not in capital letters; methods are case-sensitive.
  case method
  /// A target that is neither a path nor an absolute `http` URI, or that readers resolve differently.
  case target
  /// A protocol that is not `HTTP/` and two digits.
  case version
  /// A version of HTTP other than 1.0 and 1.1.
  case unsupportedVersion
  case requestLineTooLong

  // MARK: Fields (5)

  /// A line that begins with a space or a tab: a folded field, or a field hidden from readers that trim.
  case foldedField
  /// A space or a tab between a field's name and its colon.
  case spaceBeforeColon
  /// A line without a colon, or with an invalid name.
  case fieldName
  case fieldTooLong
  case tooManyFields
  case headTooLong

  // MARK: Host (3.2)

  case missingHost
  case repeatedHost
  /// A host that is not a name or address with an optional port.
  case host
  /// An absolute target whose authority is not the value of `Host`.
  case hostMismatch

  // MARK: Framing (6.1 to 6.3)

  /// A length that is not a decimal number without sign, list or leading zeros.
  case contentLength
  /// The request has several `Content-Length` fields, equal or not.
  case repeatedContentLength
  /// A transfer coding other than `chunked`, or any in HTTP/1.0.
  case transferEncoding
  /// The request has several `Transfer-Encoding` fields.
  case repeatedTransferEncoding
  /// Both `Content-Length` and `Transfer-Encoding`.
  case lengthAndEncoding

  // MARK: Chunks (7.1)

  /// A chunk's size that is not one to eight hexadecimal digits.
  case chunkSize
  /// An extension that is empty or not ASCII.
  case chunkExtension
  /// A chunk's line whose extensions exceed the limit, together with those before it.
  case chunkLineTooLong
  /// A chunk without a CRLF after its size.
  case chunkEnd
  case trailerTooLong

  package var refusal: HTTPRejection {
    switch status {
    case 414, 431: .headTooLarge
    case _: .malformed
    }
  }

  package var status: Int {
    switch self {
    case .requestLineTooLong: 414
    case .fieldTooLong, .tooManyFields, .headTooLong: 431
    case .unsupportedVersion: 505
    case .bareCarriageReturn, .bareLineFeed, .controlByte, .emptyLine, .requestLine, .method, .target, .version,
      .foldedField, .spaceBeforeColon, .fieldName, .missingHost, .repeatedHost, .host, .hostMismatch, .contentLength,
      .repeatedContentLength, .transferEncoding, .repeatedTransferEncoding, .lengthAndEncoding, .chunkSize,
      .chunkExtension, .chunkLineTooLong, .chunkEnd, .trailerTooLong:
      400
    }
  }
}

/// The reason why the bytes of a request are not an HTTP/1.1 request that can be read in one way only.
///
/// A server that guesses what such bytes mean can be made to disagree with a proxy in front of it about where a request
/// ends; the bytes after that point are then a second request that the proxy never judged. So every fault is answered
/// with `status`, and the connection is closed: nothing that follows on it can be trusted.
///
/// The section numbers are those of RFC 9112.
package enum RequestParseError: String, Error, Hashable, Sendable, CaseIterable {
  // MARK: Bytes (2.2)

  /// A CR that no LF follows.
  case bareCarriageReturn
  /// An LF without a CR before it.
  case bareLineFeed
  /// NUL or another control byte except the horizontal tab.
  case controlByte

  // MARK: Request line (3)

  /// More than one empty line before the request line.
  case emptyLine
  /// A request line that is not three parts with one space between each; HTTP/0.9 has two.
  case requestLine
  /// `CONNECT`, or a method that is not written in capital letters; methods are case-sensitive.
  case method
  /// A target that is neither a path nor an absolute `http` URI, or one that names more than one resource, depending on
  /// the reader.
  case target
  /// A protocol that is not `HTTP/` and two digits.
  case version
  /// A version of HTTP other than 1.0 and 1.1.
  case unsupportedVersion
  case requestLineTooLong

  // MARK: Fields (5)

  /// A line that begins with a space or a tab: a folded field, or a field hidden from whoever trims.
  case foldedField
  /// A space or a tab between a field's name and its colon.
  case spaceBeforeColon
  /// A line without a colon, or a name that is no token.
  case fieldName
  case fieldTooLong
  case tooManyFields
  case headTooLong

  // MARK: Host (3.2)

  case missingHost
  case repeatedHost
  /// A host that is no name or address with an optional port.
  case host
  /// An absolute target whose authority is not the value of `Host`.
  case hostMismatch

  // MARK: Framing (6.1 to 6.3)

  /// A length that is not a decimal number without sign, list or leading zeros.
  case contentLength
  /// More than one `Content-Length`, equal or not.
  case repeatedContentLength
  /// A transfer coding other than `chunked`, or any in HTTP/1.0.
  case transferEncoding
  /// More than one `Transfer-Encoding`.
  case repeatedTransferEncoding
  /// Both `Content-Length` and `Transfer-Encoding`.
  case lengthAndEncoding

  // MARK: Chunks (7.1)

  /// A chunk's size that is not one to eight hexadecimal digits.
  case chunkSize
  /// An extension that is empty or not ASCII.
  case chunkExtension
  /// A chunk's line whose extensions are, with those before it, longer than the limit.
  case chunkLineTooLong
  /// A chunk that no CRLF follows where its size says.
  case chunkEnd
  case trailerTooLong

  /// What it counts as among the reasons for refusals.
  package var refusal: HTTPRejection {
    switch status {
    case 414, 431: .headTooLarge
    case _: .malformed
    }
  }

  /// The status that answers it.
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

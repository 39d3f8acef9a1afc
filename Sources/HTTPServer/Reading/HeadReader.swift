/// Reads one request's head as strictly as RFC 9112 permits.
///
/// Pure and incremental: each call gets all bytes since the head's first one, and each byte is read once. The result
/// depends only on the bytes, not on their division. `HTTPServerLimits` bounds a line, the number of fields, and the
/// whole.
package struct HeadReader: Sendable {
  private let limits: Limits
  private var scanner = LineScanner()
  private var position = 0
  private var requestLine: RequestLine?
  private var fields = HTTPHeaders()

  struct Limits: Sendable {
    let head: Int
    let line: Int
    let fields: Int
    let takesEscapedSlashes: Bool

    init(_ limits: HTTPServerLimits) {
      (head, line, fields) = (limits.head, limits.line, limits.fields)
      takesEscapedSlashes = limits.takesEscapedSlashes
    }
  }

  init(_ limits: Limits) { self.limits = limits }

  package init(limits: HTTPServerLimits) { self.init(Limits(limits)) }

  /// Returns the head once it is complete; `nil` before.
  ///
  /// After a head or a fault the reader is finished; the next request needs a new one.
  package mutating func read(_ input: Span<UInt8>) throws(RequestParseError) -> RequestHead? {
    while let line = try nextLine(input) {
      position = line.upperBound + 2
      if let requestLine {
        if line.isEmpty { return try head(requestLine) }
        try add(FieldLine(input, line), of: input)
      } else if line.isEmpty {
        // Old clients end a body with an uncounted empty line (2.2); one is ignored.
        guard line.lowerBound == 0 else { throw .emptyLine }
      } else {
        requestLine = try RequestLine(input, line)
        fields.reserve(bytes: 512, fields: 16)
      }
    }
    return nil
  }

  private mutating func nextLine(_ input: Span<UInt8>) throws(RequestParseError) -> Range<Int>? {
    let left = limits.head - position
    guard left > limits.line else {
      return try scanner.line(in: input, from: position, limit: max(0, left), tooLong: .headTooLong)
    }
    let tooLong = requestLine == nil ? RequestParseError.requestLineTooLong : .fieldTooLong
    return try scanner.line(in: input, from: position, limit: limits.line, tooLong: tooLong)
  }

  private mutating func add(_ field: FieldLine, of input: Span<UInt8>) throws(RequestParseError) {
    guard fields.count < limits.fields else { throw .tooManyFields }
    fields.append(name: input.extracting(field.name), value: input.extracting(field.value))
  }

  // MARK: The whole

  private func head(_ line: RequestLine) throws(RequestParseError) -> RequestHead {
    guard let target = RequestTarget(line.target, takesEscapedSlashes: limits.takesEscapedSlashes),
      target.path != "*" || line.method == "OPTIONS"
    else { throw .target }
    try checkHost(target, version: line.version)
    let framing = try BodyFraming(fields, version: line.version)
    return RequestHead(
      method: line.method, target: line.target, path: target.path, version: line.version, fields: fields,
      framing: framing, size: position)
  }

  /// Checks for one host (3.2), equal in an absolute target, because a proxy may have checked either.
  private func checkHost(_ target: RequestTarget, version: HTTPVersion) throws(RequestParseError) {
    if let authority = target.authority, !Authority.isValid(authority.utf8Span.span) { throw .target }
    let hosts = fields.find("Host")
    guard hosts.count <= 1 else { throw .repeatedHost }
    guard let host = hosts.first else {
      guard version == .http10 else { throw .missingHost }
      return
    }
    guard Authority.isValid(fields.packed.span.extracting(host)) else { throw .host }
    if let authority = target.authority, !fields.equals("Host", authority) { throw .hostMismatch }
  }
}

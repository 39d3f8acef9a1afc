import HTTPServer

/// What the readers make of bytes that arrive in parts.
struct RequestRead: Equatable {
  enum Outcome {
    /// `size` bytes belong to the request.
    case request(RequestHead, body: [UInt8], size: Int)
    case refused(RequestParseError)
    case unfinished
  }

  let outcome: Outcome

  init(_ bytes: [UInt8], inPartsOf part: Int, _ limits: HTTPServerLimits) {
    var headReader = HeadReader(limits: limits)
    var bodyReader = BodyReader(.length(0))
    var head: RequestHead?
    var body: [UInt8] = []
    var position = 0
    var arrived = 0
    do throws(RequestParseError) {
      repeat {
        arrived = min(bytes.count, arrived + max(1, part))
        let input = bytes.span.extracting(0..<arrived)
        if head == nil, let read = try headReader.read(input) {
          head = read
          bodyReader = BodyReader(read.framing)
          position = read.size
        }
        guard let head else { continue }
        if try Self.read(input, &bodyReader, &position, into: &body, of: bytes) {
          outcome = .request(head, body: body, size: position)
          return
        }
      } while arrived < bytes.count
      outcome = .unfinished
    } catch {
      outcome = .refused(error)
    }
  }

  /// True at the body's end.
  private static func read(
    _ input: Span<UInt8>, _ reader: inout BodyReader, _ position: inout Int, into body: inout [UInt8],
    of bytes: [UInt8]
  ) throws(RequestParseError) -> Bool {
    while true {
      switch try reader.next(in: input, at: &position) {
      case .needsMore: return false
      case .part(let range): body += bytes[range]
      case .end: return true
      }
    }
  }

  static func == (a: Self, b: Self) -> Bool {
    switch (a.outcome, b.outcome) {
    case (.request(let head, let body, let size), .request(let otherHead, let otherBody, let otherSize)):
      hasSameMeaning(head, otherHead) && head.size == otherHead.size && body == otherBody && size == otherSize
    case (.refused(let fault), .refused(let other)): fault == other
    case (.unfinished, .unfinished): true
    case _: false
    }
  }

  static func hasSameMeaning(_ a: RequestHead, _ b: RequestHead) -> Bool {
    a.method == b.method && a.target == b.target && a.path == b.path && a.version == b.version
      && a.keepsConnection == b.keepsConnection && a.awaitsContinue == b.awaitsContinue
      && a.fields.fields.elementsEqual(b.fields.fields) { $0.name == $1.name && $0.value == $1.value }
  }

  /// The request with one space where one may stand, and its body in one chunk if it is chunked.
  static func plain(_ head: RequestHead, _ body: [UInt8]) -> [UInt8] {
    var text = "\(head.method) \(head.target) \(head.version == .http11 ? "HTTP/1.1" : "HTTP/1.0")\r\n"
    for (name, value) in head.fields.fields { text += "\(name):\(value)\r\n" }
    text += "\r\n"
    guard head.framing == .chunked else { return Array(text.utf8) + body }
    let chunk = body.isEmpty ? [] : Array("\(String(body.count, radix: 16))\r\n".utf8) + body + [0x0D, 0x0A]
    return Array(text.utf8) + chunk + Array("0\r\n\r\n".utf8)
  }
}

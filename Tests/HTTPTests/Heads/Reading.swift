/// What a server makes of the bytes of one request.
enum Reading: Equatable, Sendable {
  /// One request: its path, its body, and the bytes after it, which belong to the next.
  case request(path: String, body: String = "", rest: String = "")
  case refused(RequestParseError)
  /// More bytes are needed.
  case unfinished
}

extension Reading {
  /// Reads `bytes` as a connection does, with no more than `part` of them arriving at once.
  init(of bytes: [UInt8], inPartsOf part: Int, limits: HTTPServerLimits = HTTPServerLimits()) {
    var stream = RequestStream(limits: limits)
    var arrived = 0
    var (path, body) = ("", [UInt8]())
    while true {
      switch stream.next() {
      case .needsMore:
        guard arrived < bytes.count else {
          self = .unfinished
          return
        }
        let end = min(bytes.count, arrived + part)
        stream.append(bytes.span.extracting(arrived..<end))
        arrived = end
      case .head(let head): path = head.path
      case .body(let range): body += stream.buffer[range]
      case .end:
        let rest = stream.unread + bytes[arrived...]
        self = .request(
          path: path, body: String(decoding: body, as: UTF8.self), rest: String(decoding: rest, as: UTF8.self))
        return
      case .fault(let fault):
        self = .refused(fault)
        return
      }
    }
  }
}

import HTTPServer

/// What a server makes of the bytes of one request.
enum Reading: Equatable, Sendable {
  /// One request: its path, its body, and the bytes after it, which belong to the next.
  case request(path: String, body: String = "", rest: String = "")
  case refused(RequestFault)
  /// More bytes are needed.
  case unfinished
}

extension Reading {
  /// Reads `bytes` as a connection does, with no more than `part` of them arriving at once.
  init(of bytes: [UInt8], inPartsOf part: Int, limits: HTTPServerLimits = HTTPServerLimits()) {
    var connection = Connection(limits: limits)
    var arrived = 0
    do throws(RequestFault) {
      repeat {
        let end = min(bytes.count, arrived + part)
        connection.buffer += bytes[arrived..<end]
        arrived = end
        guard try connection.read() else { continue }
        self = connection.request(rest: connection.buffer + bytes[arrived...])
        return
      } while arrived < bytes.count
      self = .unfinished
    } catch {
      self = .refused(error)
    }
  }

  /// What a connection keeps between two arrivals.
  private struct Connection {
    var buffer: [UInt8] = []
    private var headReader: HeadReader
    private var head: RequestHead?
    private var bodyReader = BodyReader(.length(0))
    private var body: [UInt8] = []

    init(limits: HTTPServerLimits) { headReader = HeadReader(limits: limits) }

    /// True once the request is whole.
    mutating func read() throws(RequestFault) -> Bool {
      if head == nil {
        guard let head = try headReader.read(buffer.span) else { return false }
        self.head = head
        buffer.removeFirst(head.size)
        bodyReader = BodyReader(head.framing)
      }
      var position = 0
      var isWhole: Bool?
      while isWhole == nil {
        switch try bodyReader.next(in: buffer.span, at: &position) {
        case .needsMore: isWhole = false
        case .part(let range): body += buffer[range]
        case .end: isWhole = true
        }
      }
      buffer.removeFirst(position)
      return isWhole == true
    }

    func request(rest: [UInt8]) -> Reading {
      .request(path: head?.path ?? "", body: text(body), rest: text(rest))
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  }
}

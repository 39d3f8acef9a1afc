struct OutgoingBytes {
  enum Next {
    /// The body of the request is awaited; these bytes requested it.
    case body
    case nextRequest
    /// The end is announced, and the client gets a moment to read the response.
    case linger
    case close
  }

  private let head: [UInt8]
  private let body: [UInt8]
  /// The number of bytes of `body` to send; a simulated server breaks off before the end.
  private let end: Int
  /// The budget share of the response while a slow client reads it.
  private let share: BodyShare?
  private var sent = 0
  let next: Next

  static let none = OutgoingBytes([], then: .close)
  static let invitation = OutgoingBytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), then: .body)

  private init(_ head: [UInt8], then next: Next) {
    (self.head, self.next) = (head, next)
    (body, end, share) = ([], 0, nil)
  }

  /// Writes a response; `nil` if HTTP cannot express it.
  ///
  /// - Parameters:
  ///   - isHead: whether the request is `HEAD`.
  ///   - share: the part of the budget that its body takes, if any.
  init?(_ response: HTTPResponse, isHead: Bool, closing: Bool, date: String, share: BodyShare?) {
    let whole = ResponseHead.hasBody(response, isHead: isHead) ? response.body.count : 0
    var end = whole
    switch response.ending {
    case .cut(let count): (end, next) = (min(whole, max(0, count)), .close)
    case .complete, .silent: next = closing ? .linger : .nextRequest
    }
    let isJoined = end <= Self.joined
    guard var head = ResponseHead.bytes(of: response, closing: closing, date: date, room: isJoined ? end : 0) else {
      return nil
    }
    if isJoined {
      // One write for both.
      head += response.body.prefix(end)
      (body, self.end, self.share) = ([], 0, share)
    } else {
      (body, self.end, self.share) = (response.body, end, share)
    }
    self.head = head
  }

  /// Writes as much as possible; `bytes` means that all of it is out.
  mutating func write(to transport: any Transport) -> Moved {
    while sent < head.count + end {
      let isHead = sent < head.count
      let part = isHead ? head[sent...] : body[(sent - head.count)..<end]
      let moved = unsafe part.withUnsafeBytes { unsafe transport.write($0, hasMore: isHead && end > 0) }
      guard case .bytes(let count) = moved else { return moved }
      sent += count
    }
    return .bytes(sent)
  }

  /// The largest body that is copied behind the head.
  static let joined = 16 << 10
  /// The largest body that is not counted while a slow client reads it.
  static let uncounted = 1 << 10
}

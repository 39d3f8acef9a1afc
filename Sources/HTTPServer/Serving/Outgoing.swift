/// Bytes on their way to a client.
struct Outgoing {
  /// What happens when all of them are out.
  enum Next {
    /// The body of the request is awaited; these bytes asked for it.
    case body
    case nextRequest
    /// The end is announced, and the client gets a moment to read the answer.
    case linger
    /// The connection is closed at once.
    case close
  }

  private var head: [UInt8]
  private var body: [UInt8]
  /// How many bytes of `body` are sent; a simulated server breaks off before the end.
  private let end: Int
  private var sent = 0
  let next: Next

  init(_ head: [UInt8], body: [UInt8] = [], end: Int, then next: Next) {
    self.head = head
    self.next = next
    if end <= Self.joined {
      // One write for both.
      self.head += body.prefix(end)
      (self.body, self.end) = ([], 0)
    } else {
      (self.body, self.end) = (body, end)
    }
  }

  /// Writes as much as goes; `bytes` means that all of it is out.
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

  /// Bodies up to so many bytes are copied behind the head.
  private static let joined = 16 << 10
}

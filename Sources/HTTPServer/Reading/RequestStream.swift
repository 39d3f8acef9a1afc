/// The requests in the bytes of one connection, as events.
///
/// Pure: the caller passes new bytes to `append`, then calls `next` until `needsMore`. Nothing is read before a
/// response: the caller stops at `end` until it has responded, and bytes of a next request wait in the buffer. In
/// addition to the last appended bytes, it holds at most one head or one line of a chunk.
package struct RequestStream: Sendable {
  package enum Event: Sendable {
    case needsMore
    /// A head is complete; its body follows.
    case head(RequestHead)
    /// Bytes of the body, at these indices of `buffer` until the next call.
    case body(Range<Int>)
    case end
    /// The input is ambiguous.
    ///
    /// Nothing after it may be read: every later call returns the same.
    case fault(RequestParseError)
  }

  private enum Part {
    case head, body
    case fault(RequestParseError)
  }

  package private(set) var buffer: [UInt8] = []
  private var position = 0
  private var part = Part.head
  // Outside of the state, because there each step would copy the reader's data.
  private var head: HeadReader
  private var body = BodyReader(.length(0))
  private let limits: HeadReader.Limits

  package init(limits: HTTPServerLimits) {
    self.limits = HeadReader.Limits(limits)
    head = HeadReader(self.limits)
  }

  /// Whether unread bytes exist: part of a request, or a whole one that the client sent ahead.
  package var hasUnread: Bool { position < buffer.count }
  package var unread: ArraySlice<UInt8> { buffer[position...] }

  /// Drops processed bytes with their memory, and returns the memory of the unread ones.
  ///
  /// For a pause in reading: a response may take half a minute.
  package mutating func compact() -> Int {
    guard hasUnread else {
      forgetRead()
      return 0
    }
    // Not each time: a client may send a thousand short requests together.
    if 2 * position >= buffer.count { (buffer, position) = (Array(unread), 0) }
    return buffer.capacity
  }

  package mutating func append(_ bytes: Span<UInt8>) {
    forgetRead()
    buffer.reserveCapacity(buffer.count + bytes.count)
    unsafe bytes.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
  }

  package mutating func next() -> Event {
    let event = read(buffer)
    if case .needsMore = event { forgetRead() }
    return event
  }

  /// - Parameter buffer: the property, since no reader may change itself while it reads from another property.
  private mutating func read(_ buffer: [UInt8]) -> Event {
    do throws(RequestParseError) {
      switch part {
      case .head:
        guard let found = try head.read(buffer.span.extracting(position..<buffer.count)) else { return .needsMore }
        position += found.size
        head = HeadReader(limits)
        body = BodyReader(found.framing)
        part = .body
        return .head(found)
      case .body:
        var next = position
        let step = try body.next(in: buffer.span, at: &next)
        position = next
        switch step {
        case .needsMore: return .needsMore
        case .part(let range): return .body(range)
        case .end:
          part = .head
          return .end
        }
      case .fault(let fault): return .fault(fault)
      }
    } catch {
      part = .fault(error)
      return .fault(error)
    }
  }

  /// Drops processed bytes, and the memory of a long part of a body, which each waiting connection would otherwise hold
  /// uncounted.
  private mutating func forgetRead() {
    if position == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.mostKept)
    } else if position > 0 {
      buffer.removeFirst(position)
    }
    position = 0
  }

  /// Bytes of capacity that an idle connection may keep.
  private static let mostKept = 4 << 10
}

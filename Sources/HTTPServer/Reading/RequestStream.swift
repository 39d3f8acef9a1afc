/// The requests in the bytes of one connection, as events.
///
/// Pure: whoever moves the bytes calls `append` with what has arrived, then `next` until it says `needsMore`. Nothing is
/// read ahead of an answer: the caller stops asking at `end` until it has answered, and bytes of a next request wait in
/// the buffer. That holds at most one head or one line of a chunk beside what was last appended.
package struct RequestStream: Sendable {
  package enum Event: Sendable {
    /// Nothing can be said before more has arrived.
    case needsMore
    /// A head is complete; its body follows.
    case head(RequestHead)
    /// Bytes of the body, at these indices of `buffer` until the next call.
    case body(Range<Int>)
    /// The request is complete; another may follow.
    case end
    /// What comes can be read in more than one way. Nothing after it may be read: every later call returns the same.
    case fault(RequestFault)
  }

  private enum State {
    case head(HeadReader)
    case body(BodyReader)
    case fault(RequestFault)
  }

  package private(set) var buffer: [UInt8] = []
  /// Where the unread bytes begin.
  private var position = 0
  private var state: State
  private let limits: HTTPServerLimits

  package init(limits: HTTPServerLimits) {
    self.limits = limits
    state = .head(HeadReader(limits: limits))
  }

  /// Whether bytes wait to be read: part of a request, or a whole one that the client sent ahead.
  package var hasUnread: Bool { position < buffer.count }
  package var unread: ArraySlice<UInt8> { buffer[position...] }

  package mutating func append(_ bytes: Span<UInt8>) {
    forgetRead()
    buffer.reserveCapacity(buffer.count + bytes.count)
    unsafe bytes.withUnsafeBufferPointer { unsafe buffer.append(contentsOf: $0) }
  }

  package mutating func next() -> Event {
    do throws(RequestFault) {
      switch state {
      case .head(var reader):
        let head = try reader.read(buffer.span.extracting(position..<buffer.count))
        guard let head else {
          state = .head(reader)
          return .needsMore
        }
        position += head.size
        state = .body(BodyReader(head.framing))
        return .head(head)
      case .body(var reader):
        var next = position
        let step = try reader.next(in: buffer.span, at: &next)
        (position, state) = (next, .body(reader))
        switch step {
        case .needsMore:
          forgetRead()
          return .needsMore
        case .part(let range): return .body(range)
        case .end:
          state = .head(HeadReader(limits: limits))
          return .end
        }
      case .fault(let fault): return .fault(fault)
      }
    } catch {
      state = .fault(error)
      return .fault(error)
    }
  }

  /// Drops what has been read, and the memory of a long part of a body with it: that would be held by each connection
  /// that waits for more, and be counted nowhere.
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

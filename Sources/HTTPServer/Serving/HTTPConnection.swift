import Time

/// One connection from its first byte to its end.
///
/// Only its loop's thread accesses it. The steps of one request are head, admission, body, handler and response; then
/// the next, or the end. Nothing is read while a response is awaited or sent, so that no client can make the server
/// read ahead of its responses. `proceed` drives it, and its transport does all I/O.
final class HTTPConnection {
  enum Progress {
    /// It waits for the poller, the handler or the clock.
    case waits
    /// Others have their pass before this one continues.
    case hasMore
    case over
  }

  let id: UInt64
  let peer: PeerAddress
  let context: LoopContext
  private let transport: any Transport
  var slot: ConnectionSlot
  private var requests: RequestStream
  /// The budget share of the bytes that the client sent ahead, while nothing is read.
  private var ahead: BodyShare?
  var step = ConnectionPhase.reading
  var patience: ConnectionTimeouts
  var request: RequestInProgress?
  /// The response to a rejected request after `discarding`.
  var refusal: HTTPResponse?
  var outgoing = OutgoingBytes.none
  var closesAfterAnswer = false
  /// Whether the client gets a moment to read its last response.
  var lingers = true
  /// Whether the request is `HEAD`, whose response has no body.
  var isHead = false
  private var mayRead = true
  private var isEnded = false

  init(
    _ id: UInt64, _ transport: any Transport, _ slot: consuming ConnectionSlot, peer: PeerAddress, context: LoopContext
  ) {
    self.id = id
    self.transport = transport
    self.slot = slot
    self.peer = peer
    self.context = context
    requests = RequestStream(limits: context.core.limits)
    patience = ConnectionTimeouts(withSilence: context.core.limits.firstByte)
  }

  var core: ServerCore { context.core }

  /// Whether it can close without a missing response.
  var isIdle: Bool { patience.isWaiting && !requests.hasUnread }

  func notice(_ event: Poller.Event) {
    mayRead = true
    if event.isEnded { isEnded = true }
  }

  /// Proceeds without waiting, up to a limit that lets others proceed.
  func proceed() -> Progress {
    var turns = 16
    while true {
      switch step {
      case .reading, .discarding:
        if advance() { continue }
        guard mayRead else { return .waits }
        guard turns > 0 else { return .hasMore }
        turns -= 1
        switch fill() {
        case .bytes: break
        case .wouldBlock: return .waits
        case .ended: return .over
        }
      case .deciding(let pending):
        guard let admission = pending.take() else { return .waits }
        step = .reading
        act(on: admission)
      case .answering(let pending):
        guard let response = pending.take() else { return .waits }
        answer(response)
      case .sending:
        switch outgoing.write(to: transport) {
        case .bytes: sent()
        case .wouldBlock: return .waits
        case .ended: return .over
        }
        turns -= 1
        guard turns > 0 else { return .hasMore }
      case .lingering(let left):
        guard mayRead, left > 0 else { return left > 0 ? .waits : .over }
        switch unsafe context.room.withUnsafeMutableBytes({ unsafe transport.discard(into: $0) }) {
        case .bytes(let count): step = .lingering(left: left - count)
        case .wouldBlock: return .waits
        case .ended: return .over
        }
      case .over: return .over
      }
    }
  }

  // MARK: Bytes in

  private func fill() -> Moved {
    let moved = unsafe context.room.withUnsafeMutableBytes { unsafe transport.read(into: $0) }
    switch moved {
    case .bytes(let count):
      if transport.endsShortReads, count < context.room.count, !isEnded { mayRead = false }
      patience.heard(requestWithin: core.limits.receive)
      core.tally.received(bytes: count)
      let room = context.room
      requests.append(room.span.extracting(0..<count))
    case .wouldBlock: mayRead = false
    case .ended: break
    }
    return moved
  }

  private func advance() -> Bool {
    switch requests.next() {
    case .needsMore: return false
    case .head(let head): admit(head)
    case .body(let range): receive(range)
    case .end: complete()
    case .fault(let fault): refuse(fault)
    }
    return true
  }

  private func receive(_ range: Range<Int>) {
    if case .discarding(let left) = step {
      step = .discarding(left: left - range.count)
      if left < range.count { answerRefusal(closing: true) }
      return
    }
    let buffer = requests.buffer
    switch request?.receive(buffer.span.extracting(range)) {
    case .taken: break
    case .tooLong, nil: abandonBody(.bodyTooLarge, HTTPResponse(status: 413), after: range.count)
    case .overBudget:
      closesAfterAnswer = true
      abandonBody(.bodyBudget, .overloaded, after: range.count)
    }
  }

  /// Counts the unread bytes like a body; false, and they are dropped, above the limit.
  ///
  /// A client may send 64 KiB ahead with each request, and delay its response as long as it likes.
  func holdsUnread() -> Bool {
    let bytes = requests.compact()
    guard bytes > Self.uncounted else { return true }
    let share = BodyShare(of: core.bodies, for: slot.caller)
    guard share.grow(by: bytes) else {
      requests = RequestStream(limits: core.limits)
      return false
    }
    ahead = share
    return true
  }

  /// Bytes that each connection may hold without being counted.
  private static let uncounted = 4 << 10

  /// Whether part of a body, or another request, has arrived.
  var hasUnread: Bool { requests.hasUnread }

  // MARK: Bytes out

  private func sent() {
    switch outgoing.next {
    case .body: step = .reading
    case .nextRequest:
      step = .reading
      ahead = nil
      isHead = false
      _ = slot.move(to: slot.origin)
      if requests.hasUnread {
        patience.begin(within: core.limits.receive)
      } else {
        patience.awaitRequest(within: core.limits.idle)
      }
    case .linger where !lingers:
      // Received bytes are read once: unread bytes would reset the connection before the client, a proxy, has the
      // response.
      transport.finish()
      _ = unsafe context.room.withUnsafeMutableBytes { unsafe transport.discard(into: $0) }
      step = .over
    case .linger:
      transport.finish()
      step = .lingering(left: max(1, core.limits.discard))
      patience.begin(within: Self.linger)
    case .close: step = .over
    }
    outgoing = .none
  }

  private static let linger = Interval.seconds(1)
}

import Time

/// One connection from its first byte to its end.
///
/// Only its loop's thread touches it. The steps of one request: head, admission, body, handler, answer; then the next, or
/// the end. Nothing is read while an answer is awaited or sent, so that no client can make the server read ahead of its
/// answers. It is driven by `proceed`, and all its I/O is its transport's.
final class ServedConnection {
  enum Progress {
    /// Nothing can be done before the poller, the handler or the clock reports something.
    case waits
    /// Others have their turn before this one goes on.
    case hasMore
    /// The connection is to be let go of, which closes it.
    case over
  }

  private enum Step {
    case reading
    /// What is left of a refused body is read and dropped, so that the client gets to read why.
    case discarding(HTTPResponse, left: Int)
    /// The handler decides whether to take the body.
    case deciding(Pending<HTTPAdmission>, RequestHead)
    case answering(Pending<HTTPResponse>)
    case sending
    /// The answer is out and the end announced. What still arrives is dropped for a moment: closing with unread bytes
    /// resets the connection, and the answer is lost with it.
    case lingering(left: Int)
    case over
  }

  private let id: UInt64
  private let peer: PeerAddress
  private let context: LoopContext
  private let transport: any Transport
  private var slot: ConnectionSlot
  private var requests: RequestStream
  private var step = Step.reading
  private var deadline: Deadline
  private var waitsSince: Deadline
  /// Whether no byte has ever come.
  private var isSilent = true
  /// Nothing of a request has arrived.
  private var isWaiting = true
  private var head: HTTPRequestHead?
  private var body: IncomingBody?
  private var outgoing = Outgoing([], end: 0, then: .close)
  private var closesAfterAnswer = false
  /// Whether the request is `HEAD`, whose answer has no body.
  private var isHead = false
  /// Whether a read may find something.
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
    waitsSince = .now()
    deadline = waitsSince + context.core.limits.firstByte
  }

  private var core: ServerCore { context.core }

  /// Whether it could close without anybody missing an answer.
  var isIdle: Bool { isWaiting && !requests.hasUnread }

  func notice(_ event: Poller.Event) {
    mayRead = true
    if event.isEnded { isEnded = true }
  }

  /// Does what can be done without waiting, up to a measure that leaves others their turn.
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
      case .deciding(let pending, let head):
        guard let admission = pending.take() else { return .waits }
        step = .reading
        act(on: admission, head)
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

  // MARK: Reading

  private func fill() -> Moved {
    let moved = unsafe context.room.withUnsafeMutableBytes { unsafe transport.read(into: $0) }
    switch moved {
    case .bytes(let count):
      if transport.endsShortReads, count < context.room.count, !isEnded { mayRead = false }
      isSilent = false
      if isWaiting { enter(within: core.limits.receive) }
      core.tally.received(bytes: count)
      let room = context.room
      requests.append(room.span.extracting(0..<count))
    case .wouldBlock: mayRead = false
    case .ended: break
    }
    return moved
  }

  /// Takes the next event; false when more bytes are needed.
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

  private func admit(_ head: RequestHead) {
    let request = HTTPRequestHead(
      method: head.method, path: head.path, rawTarget: head.target, headers: head.fields, peer: peer)
    self.head = request
    closesAfterAnswer = !head.keepsConnection
    isHead = head.method == "HEAD"
    act(on: core.handler.admit(request), head)
  }

  private func act(on admission: HTTPAdmission, _ head: RequestHead) {
    switch admission {
    case .refuse(let response, let reason): refuse(.notAdmitted, response, head, because: reason)
    case .decide(let decision):
      let pending = Pending<HTTPAdmission>(for: id, of: context.loop)
      step = .deciding(pending, head)
      pending.start(decision)
    case .admit(let bodyLimit, let requester):
      let caller = requester ?? slot.origin
      // Behind a proxy only the head says whose the connection is for now.
      guard slot.move(to: caller) else { return refuse(.tooManyConnections, HTTPResponse(status: 503), head) }
      let limit = bodyLimit ?? core.limits.body
      switch head.framing {
      case .length(let length) where length > limit: return refuse(.bodyTooLarge, HTTPResponse(status: 413), head)
      case .length(0): break
      case .length(let length): body = IncomingBody(limit: limit, promised: length, budget: core.bodies, caller: caller)
      case .chunked: body = IncomingBody(limit: limit, promised: nil, budget: core.bodies, caller: caller)
      }
      // A client that has begun its body waits no more.
      guard head.awaitsContinue, !requests.hasUnread else { return }
      let invitation = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
      outgoing = Outgoing(invitation, end: 0, then: .body)
      step = .sending
    }
  }

  private func receive(_ range: Range<Int>) {
    if case .discarding(let response, let left) = step {
      step = .discarding(response, left: left - range.count)
      if left < range.count { answer(response, closing: true) }
      return
    }
    let buffer = requests.buffer
    switch body?.append(buffer.span.extracting(range)) {
    case .taken: break
    case .tooLong, nil: abandonBody(.bodyTooLarge, HTTPResponse(status: 413), after: range.count)
    case .overBudget:
      closesAfterAnswer = true
      abandonBody(.bodyBudget, HTTPResponse(status: 503, headers: ["Retry-After": "5"]), after: range.count)
    }
  }

  private func complete() {
    if case .discarding(let response, _) = step { return answer(response) }
    guard let head else { return }
    guard !core.isClosing else {
      core.refused(.stopping, peer)
      return answer(HTTPResponse(status: 503), closing: true)
    }
    enter(within: core.limits.answer)
    let request = HTTPRequest(head: head, body: body?.bytes ?? [])
    let share = body?.share
    (self.head, body) = (nil, nil)
    let pending = Pending<HTTPResponse>(for: id, of: context.loop)
    step = .answering(pending)
    pending.start { [handler = core.handler] in
      let response = await handler.respond(to: request)
      // The body counts until here, answered or given up: a handler whose time is up may hold it for long.
      withExtendedLifetime(share) {}
      return response
    }
  }

  // MARK: Refusing

  /// Nothing that follows can be trusted to begin where it seems to.
  private func refuse(_ fault: RequestFault) {
    body = nil
    core.refused(fault, peer)
    answer(HTTPResponse(status: fault.status), closing: true)
  }

  /// Answers after the body has been thrown away, if it is short; else at once, which ends the connection.
  ///
  /// A client that waits for `100 Continue` is answered at once, too: whether it sends its body after all is not known.
  private func refuse(
    _ reason: HTTPRefusal, _ response: HTTPResponse, _ head: RequestHead, because detail: String = ""
  ) {
    core.refused(reason, peer, detail: detail)
    let left: Int
    switch head.framing {
    case .length(let length): left = length
    case .chunked: left = core.limits.discard
    }
    if head.awaitsContinue || left > core.limits.discard {
      answer(response, closing: true)
    } else {
      step = .discarding(response, left: left)
    }
  }

  /// Forgets what has come of the body, and answers once a little of the rest has been thrown away.
  private func abandonBody(_ reason: HTTPRefusal, _ response: HTTPResponse, after received: Int) {
    body = nil
    core.refused(reason, peer)
    let left = core.limits.discard - received
    if left < 0 { answer(response, closing: true) } else { step = .discarding(response, left: left) }
  }

  // MARK: Answering

  private func answer(_ response: HTTPResponse, closing: Bool = false) {
    enter(within: core.limits.send)
    (head, body) = (nil, nil)
    guard !response.isSilent else { return step = .over }
    closesAfterAnswer =
      closesAfterAnswer || closing || core.isDraining || response.headers.lists("close", in: "Connection")
    step = .sending
    if let outgoing = outgoing(response) { return self.outgoing = outgoing }
    core.report(.unsayableResponse(status: response.status))
    if let outgoing = outgoing(HTTPResponse(status: 500)) { self.outgoing = outgoing } else { step = .over }
  }

  /// Nil if HTTP cannot say it.
  private func outgoing(_ response: HTTPResponse) -> Outgoing? {
    guard let bytes = ResponseHead.bytes(of: response, closing: closesAfterAnswer, date: context.currentDate()) else {
      return nil
    }
    let hasBody = ResponseHead.hasBody(response, isHead: isHead)
    var end = hasBody ? response.body.count : 0
    core.tally.answered(status: response.status, bytes: end)
    if case .cut(let count) = response.ending {
      end = min(end, max(0, count))
      return Outgoing(bytes, body: response.body, end: end, then: .close)
    }
    return Outgoing(bytes, body: response.body, end: end, then: closesAfterAnswer ? .linger : .nextRequest)
  }

  private func sent() {
    switch outgoing.next {
    case .body: step = .reading
    case .nextRequest:
      step = .reading
      isHead = false
      _ = slot.move(to: slot.origin)
      isWaiting = !requests.hasUnread
      waitsSince = .now()
      deadline = waitsSince + (isWaiting ? core.limits.idle : core.limits.receive)
    case .linger:
      transport.finish()
      step = .lingering(left: max(1, core.limits.discard))
      enter(within: Self.linger)
    case .close: step = .over
    }
    outgoing = Outgoing([], end: 0, then: .close)
  }

  // MARK: Time and the end

  private func enter(within interval: Interval) {
    isWaiting = false
    deadline = .in(interval)
  }

  /// Ends what has taken too long; returns whether it did, so that the connection must proceed.
  ///
  /// - Parameter crowded: whether the connections for a class are nearly used up; then silence is cut short.
  func expire(at now: Deadline, whenCrowded crowded: PerClass<Bool>) -> Bool {
    let isCutShort = isWaiting && crowded[slot.caller] && waitsSince + core.limits.firstByteWhenCrowded < now
    guard deadline < now || isCutShort else { return false }
    switch step {
    case .reading:
      if !isWaiting { core.refused(.slowRequest, peer) } else if isSilent || isCutShort { core.refused(.silent, peer) }
      step = .over
    case .deciding(let pending, let head):
      pending.giveUp()
      core.refused(.unanswered, peer)
      step = .reading
      answer(HTTPResponse(status: 503), closing: head.framing != .length(0))
    case .discarding(let response, _): answer(response, closing: true)
    case .answering(let pending):
      if let response = pending.take() {
        answer(response)
      } else {
        pending.giveUp()
        core.refused(.unanswered, peer)
        answer(HTTPResponse(status: 503))
      }
    case .sending:
      core.refused(.slowReader, peer)
      step = .over
    case .lingering, .over: step = .over
    }
    return true
  }

  /// Ends everything but answers on their way; returns whether it answers in a handler's place.
  func stop() -> Bool {
    switch step {
    case .answering(let pending):
      if let response = pending.take() {
        answer(response, closing: true)
        return false
      }
      pending.giveUp()
      core.refused(.stopping, peer)
      answer(HTTPResponse(status: 503), closing: true)
      return true
    case .discarding(let response, _):
      answer(response, closing: true)
      return false
    case .sending: return false
    case .deciding(let pending, _):
      pending.giveUp()
      core.refused(.stopping, peer)
      answer(HTTPResponse(status: 503), closing: true)
      return true
    case .reading, .lingering, .over:
      step = .over
      return false
    }
  }

  private static let linger = Interval.seconds(1)
}

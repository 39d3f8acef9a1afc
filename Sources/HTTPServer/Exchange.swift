import CMicroHTTPD
import Synchronization

/// One request and its answer, from the request line to the last byte sent.
///
/// `@unchecked Sendable` because the library calls all of it from the one thread that serves the connection; what other
/// threads touch (`answer`) is behind a mutex, and `handle` is used elsewhere only to resume a connection that is
/// suspended, which keeps it alive.
@safe final class Exchange: @unchecked Sendable {
  private enum Step {
    case head
    case body
    /// The answer is decided; what is left of the body is read and dropped while `left` lasts.
    case discarding(HTTPResponse, left: Int)
    case answering
  }

  private enum Answer {
    case none
    /// The handler has begun on the serving thread and has not yet let go of it.
    case starting
    case suspended(Task<Void, Never>)
    case ready(HTTPResponse)
    case taken
  }

  let connection: OpenConnection
  private let core: ServerCore
  private let handle: OpaquePointer
  private let rawTarget: String
  private var step = Step.head
  private var head: HTTPRequestHead?
  /// Let go of with the answer; a handler that is still at work keeps what it was handed.
  private var body: IncomingBody?
  private let answer = Mutex(Answer.none)

  init(core: ServerCore, connection: OpenConnection, handle: OpaquePointer, rawTarget: String) {
    self.core = core
    self.connection = connection
    unsafe self.handle = handle
    self.rawTarget = rawTarget
    connection.enter(.receiving, for: core.limits.receive)
  }

  /// Takes the library's calls: with the head, with each part of the body, when all is there, and after a suspension.
  ///
  /// False closes the connection.
  func proceed(method: UnsafePointer<CChar>?, part: UnsafeBufferPointer<UInt8>) -> Bool {
    switch step {
    case .head:
      return receiveHead(method: unsafe method.map { unsafe String(cString: $0) } ?? "")
    case .body:
      guard part.isEmpty else { return unsafe receive(part) }
      return start()
    case .discarding(let refusal, let left):
      guard part.isEmpty else {
        step = .discarding(refusal, left: left - part.count)
        return left >= part.count
      }
      return queue(refusal)
    case .answering:
      return queueAnswer()
    }
  }

  /// The request is over, however it ended.
  func completed() {
    body = nil
    connection.enter(.waiting, for: core.limits.idle)
  }

  // MARK: Receiving

  private func receiveHead(method: String) -> Bool {
    let size = unsafe switchyard_mhd_head_size(handle)
    core.tally.received(bytes: size)
    guard size <= core.limits.head else { return refuseAtOnce(.headTooLarge, status: 431) }
    let headers = unsafe RequestHeaders.read(from: handle, size: size)
    guard let framing = try? BodyFraming(headers, version: .http11),
      let target = RequestTarget(rawTarget, takesEscapedSlashes: core.limits.takesEscapedSlashes)
    else {
      return refuseAtOnce(.malformed, status: 400)
    }
    let head = HTTPRequestHead(
      method: method, path: target.path, rawTarget: rawTarget, headers: headers, peer: connection.peer)
    self.head = head
    switch core.handler.admit(head) {
    case .refuse(let response):
      core.refused(.notAdmitted, connection.peer)
      return refuse(response, framing, headers)
    case .admit(let bodyLimit):
      let limit = bodyLimit ?? core.limits.body
      switch framing {
      case .length(let length) where length > limit:
        core.refused(.bodyTooLarge, connection.peer)
        return refuse(HTTPResponse(status: 413), framing, headers)
      case .length(0): break
      case .length(let length): body = IncomingBody(limit: limit, promised: length, budget: core.bodies)
      case .chunked: body = IncomingBody(limit: limit, promised: nil, budget: core.bodies)
      }
      step = .body
      return true
    }
  }

  private func receive(_ part: UnsafeBufferPointer<UInt8>) -> Bool {
    core.tally.received(bytes: part.count)
    switch unsafe body?.append(part) {
    case .taken: break
    case .tooLong, nil: abandonBody(.bodyTooLarge, HTTPResponse(status: 413), after: part.count)
    case .overBudget:
      let response = HTTPResponse(status: 503, headers: ["Retry-After": "5", "Connection": "close"])
      abandonBody(.bodyBudget, response, after: part.count)
    }
    return true
  }

  // MARK: Refusing

  /// Forgets what has come of the body, and answers once a little of the rest has been thrown away.
  private func abandonBody(_ reason: HTTPRefusal, _ response: HTTPResponse, after received: Int) {
    core.refused(reason, connection.peer)
    body = nil
    step = .discarding(response, left: core.limits.discard - received)
  }

  /// Answers before the body, which ends the connection; for a request whose framing cannot be trusted.
  private func refuseAtOnce(_ reason: HTTPRefusal, status: Int) -> Bool {
    core.refused(reason, connection.peer)
    return queue(HTTPResponse(status: status, headers: ["Connection": "close"]))
  }

  /// Answers after the body has been thrown away, if it is short.
  ///
  /// A client that is still sending when the connection closes would not get to read the answer. One that waits for
  /// `100 Continue` is answered at once.
  private func refuse(_ response: HTTPResponse, _ framing: BodyFraming, _ headers: HTTPHeaders) -> Bool {
    let left: Int
    switch framing {
    case .length(let length): left = length
    case .chunked: left = core.limits.discard
    }
    let waits = left > 0 && headers.equals("Expect", "100-continue")
    guard !waits, left <= core.limits.discard else { return queue(response) }
    step = .discarding(response, left: left)
    return true
  }

  // MARK: Answering

  private func start() -> Bool {
    guard let head else { return false }
    step = .answering
    core.unanswered.wrappingAdd(1, ordering: .sequentiallyConsistent)
    guard !core.isClosing else {
      core.unanswered.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      core.refused(.stopping, connection.peer)
      return queue(HTTPResponse(status: 503))
    }
    connection.enter(.answering(self), for: core.limits.answer)
    answer.withLock { $0 = .starting }
    let request = HTTPRequest(head: head, body: body?.bytes ?? [])
    let share = body?.share
    body = nil
    // The one task without a parent: this is a C callback's edge. The core counts it until it has answered.
    let task = Task.immediate { [handler = core.handler] in
      let response = await handler.respond(to: request)
      deliver(response)
      // The body counts until here, answered or not: a handler whose time is up may hold it for long.
      withExtendedLifetime(share) {}
    }
    let response: HTTPResponse? = answer.withLock { answer in
      if case .ready(let response) = answer {
        answer = .taken
        return response
      }
      unsafe MHD_suspend_connection(handle)
      answer = .suspended(task)
      return nil
    }
    guard let response else { return true }
    core.unanswered.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    return queue(response)
  }

  private func deliver(_ response: HTTPResponse) {
    answer.withLock { answer in
      switch answer {
      case .starting: answer = .ready(response)
      case .suspended: resume(&answer, with: response)
      case .none, .ready, .taken: break
      }
    }
  }

  /// Answers in the handler's place and cancels it; false when there is nothing to take over (yet).
  func takeOver(with response: HTTPResponse) -> Bool {
    let task: Task<Void, Never>? = answer.withLock { answer in
      guard case .suspended(let task) = answer else { return nil }
      resume(&answer, with: response)
      return task
    }
    task?.cancel()
    return task != nil
  }

  private func resume(_ answer: inout sending Answer, with response: HTTPResponse) {
    answer = .ready(response)
    unsafe MHD_resume_connection(handle)
    core.unanswered.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  private func queueAnswer() -> Bool {
    let response: HTTPResponse? = answer.withLock { answer in
      guard case .ready(let response) = answer else { return nil }
      answer = .taken
      return response
    }
    guard let response else { return true }
    return queue(response)
  }

  private func queue(_ response: HTTPResponse) -> Bool {
    step = .answering
    connection.enter(.sending, for: core.limits.send)
    // False ends the connection.
    if response.isSilent { return false }
    if unsafe Reply.queue(response, closing: core.isDraining, on: handle) {
      core.tally.answered(status: response.status, bytes: response.body.count)
      return true
    }
    core.report(.unsayableResponse(status: response.status))
    core.tally.answered(status: 500, bytes: 0)
    return unsafe Reply.queue(HTTPResponse(status: 500), closing: core.isDraining, on: handle)
  }
}

/// What becomes of each request.
extension HTTPConnection {
  // MARK: Admission

  func admit(_ head: RequestHead) {
    closesAfterAnswer = !head.keepsConnection
    isHead = head.method == "HEAD"
    let request = RequestInProgress(head, from: peer)
    self.request = request
    act(on: core.handler.admit(request.head))
  }

  func act(on admission: HTTPAdmission) {
    switch admission {
    case .refuse(let response, let reason):
      guard movesToSender() else { return refuseAtOnce(.notAdmitted, response, because: reason) }
      refuse(.notAdmitted, response, because: reason)
    case .decide(let decision):
      guard movesToSender() else { return refuseAtOnce(.tooManyConnections, HTTPResponse(status: 503)) }
      let pending = PendingResult<HTTPAdmission>(for: id, of: context.loop)
      step = .deciding(pending)
      pending.start(decision)
    case .admit(let bodyLimit, let requester):
      let caller = requester ?? slot.origin
      // Behind a proxy only the head says whose the connection is for now.
      guard slot.move(to: caller) else { return refuseAtOnce(.tooManyConnections, HTTPResponse(status: 503)) }
      guard request?.admit(bodyLimit ?? core.limits.body, budget: core.bodies, caller: caller) == true else {
        return refuse(.bodyTooLarge, HTTPResponse(status: 413))
      }
      // A client that has begun its body waits no more.
      guard request?.awaitsContinue == true, !hasUnread else { return }
      outgoing = .invitation
      step = .sending
    }
  }

  /// Counts the connection as one of the class of whoever sent the request; false if that has no room.
  ///
  /// What a stranger sends through a proxy must not hold a slot of the proxy's class.
  private func movesToSender() -> Bool {
    let sender = request.flatMap { core.handler.caller(of: $0.head) }
    return slot.move(to: sender ?? slot.origin)
  }

  /// The request is complete.
  func complete() {
    if case .discarding = step { return answerRefusal() }
    guard let (request, share) = request?.finished(core.bodies, as: slot.caller) else { return }
    guard !core.isClosing else {
      core.refused(.stopping, peer)
      return answer(HTTPResponse(status: 503), closing: true)
    }
    self.request = nil
    if !holdsUnread() {
      // The request is answered; what the client sent ahead of the answer it has to send again.
      core.refused(.bodyBudget, peer)
      closesAfterAnswer = true
    }
    patience.begin(within: core.limits.answer)
    let pending = PendingResult<HTTPResponse>(for: id, of: context.loop)
    step = .answering(pending)
    pending.start { [handler = core.handler] in
      let response = await handler.respond(to: request)
      // The body counts until here, answered or given up: a handler whose time is up may hold it for long. Not until the
      // task has gone: the answer may be counted before that.
      share?.giveBack()
      return response
    }
  }

  // MARK: Refusal

  /// Nothing that follows can be trusted to begin where it seems to.
  func refuse(_ fault: RequestParseError) {
    core.refused(fault, peer)
    answer(HTTPResponse(status: fault.status), closing: true)
  }

  /// Answers after the body has been thrown away, if it is short; else at once, which ends the connection.
  func refuse(_ reason: HTTPRejection, _ response: HTTPResponse, because detail: String = "") {
    core.refused(reason, peer, detail: detail)
    if let left = request?.leftToDiscard(most: core.limits.discard) {
      (refusal, step) = (response, .discarding(left: left))
    } else {
      answer(response, closing: true)
    }
  }

  /// Answers without waiting for the body, or for the client to read why: the connection holds a slot that it may not have.
  private func refuseAtOnce(_ reason: HTTPRejection, _ response: HTTPResponse, because detail: String = "") {
    core.refused(reason, peer, detail: detail)
    lingers = false
    answer(response, closing: true)
  }

  /// Forgets what has come of the body, and answers once a little of the rest has been thrown away.
  func abandonBody(_ reason: HTTPRejection, _ response: HTTPResponse, after received: Int) {
    core.refused(reason, peer)
    request = nil
    let left = core.limits.discard - received
    if left < 0 { answer(response, closing: true) } else { (refusal, step) = (response, .discarding(left: left)) }
  }

  func answerRefusal(closing: Bool = false) { answer(refusal ?? HTTPResponse(status: 500), closing: closing) }

  // MARK: Answer

  func answer(_ response: HTTPResponse, closing: Bool = false) {
    patience.begin(within: core.limits.send)
    (request, refusal) = (nil, nil)
    guard !response.isSilent else { return step = .over }
    closesAfterAnswer =
      closesAfterAnswer || closing || core.isDraining || response.headers.lists("close", in: "Connection")
    step = .sending
    var share: BodyShare?
    if response.body.count > OutgoingBytes.uncounted {
      // A client that reads slowly holds it for as long.
      let taken = response.share ?? BodyShare(of: core.bodies, for: slot.caller)
      guard taken.grow(to: response.body.count) else {
        core.refused(.answerBudget, peer)
        return write(.overloaded, share: nil)
      }
      share = taken
    }
    write(response, share: share)
  }

  private func write(_ response: HTTPResponse, share: BodyShare?) {
    let date = context.currentDate()
    guard
      let outgoing = OutgoingBytes(response, isHead: isHead, closing: closesAfterAnswer, date: date, share: share)
    else {
      core.report(.unsayableResponse(status: response.status))
      return write(HTTPResponse(status: 500), share: nil)
    }
    core.tally.answered(status: response.status, bytes: isHead ? 0 : response.body.count)
    self.outgoing = outgoing
  }
}

extension HTTPResponse {
  /// Said when there is no memory for a body now.
  static let overloaded = HTTPResponse(status: 503, headers: ["Retry-After": "5"])
}

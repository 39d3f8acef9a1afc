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
      // Behind a proxy only the head determines the class of the connection.
      guard slot.move(to: caller) else { return refuseAtOnce(.tooManyConnections, HTTPResponse(status: 503)) }
      guard request?.admit(bodyLimit ?? core.limits.body, budget: core.bodies, caller: caller) == true else {
        return refuse(.bodyTooLarge, HTTPResponse(status: 413))
      }
      // A client that has begun its body no longer waits.
      guard request?.awaitsContinue == true, !hasUnread else { return }
      outgoing = .invitation
      step = .sending
    }
  }

  /// Counts the connection for the class of the request's sender; false if that is full.
  ///
  /// A stranger's request through a proxy must not hold a slot of the proxy's class.
  private func movesToSender() -> Bool {
    let sender = request.flatMap { core.handler.caller(of: $0.head) }
    return slot.move(to: sender ?? slot.origin)
  }

  func complete() {
    if case .discarding = step { return answerRefusal() }
    guard let (request, share) = request?.finished(core.bodies, as: slot.caller) else { return }
    guard !core.isClosing else {
      core.refused(.stopping, peer)
      return answer(HTTPResponse(status: 503), closing: true)
    }
    self.request = nil
    if !holdsUnread() {
      // The request is answered; the client must resend the bytes that it sent ahead.
      core.refused(.bodyBudget, peer)
      closesAfterAnswer = true
    }
    patience.begin(within: core.limits.answer)
    let pending = PendingResult<HTTPResponse>(for: id, of: context.loop)
    step = .answering(pending)
    pending.start { [handler = core.handler] in
      let response = await handler.respond(to: request)
      // The body counts until here, answered or cancelled, because a handler may hold it long after its limit. It must
      // not count until the task ends: the response may be counted before that.
      share?.giveBack()
      return response
    }
  }

  // MARK: Refusal

  /// Rejects the request; the bytes after a fault have no reliable start.
  func refuse(_ fault: RequestParseError) {
    core.refused(fault, peer)
    answer(HTTPResponse(status: fault.status), closing: true)
  }

  /// Responds after a short body has been discarded; otherwise immediately, which ends the connection.
  func refuse(_ reason: HTTPRejection, _ response: HTTPResponse, because detail: String = "") {
    core.refused(reason, peer, detail: detail)
    if let left = request?.leftToDiscard(most: core.limits.discard) {
      (refusal, step) = (response, .discarding(left: left))
    } else {
      answer(response, closing: true)
    }
  }

  /// Responds without waiting for the body or the client, because the connection holds a slot that it may not have.
  private func refuseAtOnce(_ reason: HTTPRejection, _ response: HTTPResponse, because detail: String = "") {
    core.refused(reason, peer, detail: detail)
    lingers = false
    answer(response, closing: true)
  }

  /// Discards the received body, and responds after a little more of the rest.
  func abandonBody(_ reason: HTTPRejection, _ response: HTTPResponse, after received: Int) {
    core.refused(reason, peer)
    request = nil
    let left = core.limits.discard - received
    if left < 0 { answer(response, closing: true) } else { (refusal, step) = (response, .discarding(left: left)) }
  }

  func answerRefusal(closing: Bool = false) { answer(refusal ?? HTTPResponse(status: 500), closing: closing) }

  // MARK: Response

  func answer(_ response: HTTPResponse, closing: Bool = false) {
    patience.begin(within: core.limits.send)
    (request, refusal) = (nil, nil)
    guard !response.isSilent else { return step = .over }
    closesAfterAnswer =
      closesAfterAnswer || closing || core.isDraining || response.headers.lists("close", in: "Connection")
    step = .sending
    var share: BodyShare?
    if response.body.count > OutgoingBytes.uncounted {
      // A slow client holds it as long as it reads.
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
  /// The response when no memory for a body is left.
  static let overloaded = HTTPResponse(status: 503, headers: ["Retry-After": "5"])
}

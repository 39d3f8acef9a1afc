/// The end of a connection, or of a step that exceeds its limit.
extension HTTPConnection {
  /// Ends a step that exceeds its limit; returns whether it did, so that the connection must proceed.
  ///
  /// - Parameter crowded: whether the connections for a class are nearly used up, which shortens the wait for requests.
  func expire(at now: Deadline, whenCrowded crowded: PerCallerClass<Bool>) -> Bool {
    let mostSilence = crowded[slot.caller] ? core.limits.firstByteWhenCrowded : nil
    guard let end = patience.end(at: now, mostSilence: mostSilence) else { return false }
    switch step {
    case .reading:
      switch end {
      case .slow: core.refused(.slowRequest, peer)
      case .silent: core.refused(.silent, peer)
      case .idle: break
      }
      step = .over
    case .discarding: answerRefusal(closing: true)
    case .deciding(let pending):
      pending.giveUp()
      core.refused(.unanswered, peer)
      answer(HTTPResponse(status: 503), closing: request?.framing != .length(0))
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

  /// Ends everything except responses in flight; returns whether it responds instead of a handler.
  func stop() -> Bool {
    switch step {
    case .answering(let pending):
      if let response = pending.take() {
        answer(response, closing: true)
        return false
      }
      pending.giveUp()
      return answerStopping()
    case .deciding(let pending):
      pending.giveUp()
      return answerStopping()
    case .discarding:
      answerRefusal(closing: true)
      return false
    case .sending: return false
    case .reading, .lingering, .over:
      step = .over
      return false
    }
  }

  private func answerStopping() -> Bool {
    core.refused(.stopping, peer)
    answer(HTTPResponse(status: 503), closing: true)
    return true
  }
}

struct RequestInProgress {
  let head: HTTPRequestHead
  let framing: BodyFraming
  /// Whether the client sends the body only after `100 Continue`.
  let awaitsContinue: Bool
  private var body: IncomingBody?

  init(_ head: RequestHead, from peer: PeerAddress) {
    self.head = HTTPRequestHead(
      method: head.method, path: head.path, rawTarget: head.target, headers: head.fields, peer: peer)
    framing = head.framing
    awaitsContinue = head.awaitsContinue
  }

  /// Prepares for a body of at most `limit` bytes; false if the client has announced more.
  mutating func admit(_ limit: Int, budget: BodyBudget, caller: CallerClass) -> Bool {
    switch framing {
    case .length(let length) where length > limit: return false
    case .length(0): break
    case .length(let length): body = IncomingBody(limit: limit, promised: length, budget: budget, caller: caller)
    case .chunked: body = IncomingBody(limit: limit, promised: nil, budget: budget, caller: caller)
    }
    return true
  }

  mutating func receive(_ part: Span<UInt8>) -> IncomingBody.Outcome { body?.append(part) ?? .tooLong }

  /// Returns the whole request, with its body's part of the budget.
  ///
  /// - Parameters:
  ///   - budget: counts the memory of its response.
  ///   - caller: the class to which it counts.
  func finished(_ budget: BodyBudget, as caller: CallerClass) -> (HTTPRequest, BodyShare?) {
    var request = HTTPRequest(head: head, body: body?.bytes ?? [])
    (request.budget, request.caller) = (budget, caller)
    return (request, body?.share)
  }

  /// Returns the bytes of a rejected body to discard; `nil` if it is longer than `most`, or may never come.
  ///
  /// A client that waits for `100 Continue` may or may not send its body.
  func leftToDiscard(most: Int) -> Int? {
    guard !awaitsContinue else { return nil }
    switch framing {
    case .length(let length): return length <= most ? length : nil
    case .chunked: return most
    }
  }
}

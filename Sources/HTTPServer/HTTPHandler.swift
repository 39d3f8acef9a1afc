package protocol HTTPHandler: Sendable {
  /// Decides by the head only, before any byte of the body.
  ///
  /// Runs on the thread that serves the connection: it must not block, and cannot wait.
  func admit(_ head: HTTPRequestHead) -> HTTPAdmission

  /// Returns the class of the sender of a request that is not admitted, or not yet; `nil` means the class of the
  /// connection's address.
  ///
  /// While such a request is decided, or its body is discarded, the connection counts for that class. Runs on the same
  /// thread as `admit`.
  func caller(of head: HTTPRequestHead) -> CallerClass?

  /// Responds to the request.
  ///
  /// Cancelled at the time limit or when the server stops, which drops the response. Starts on the thread that serves
  /// the connection and leaves it at the first real `await`; blocking work must follow one.
  func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPHandler {
  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit() }
  package func caller(of head: HTTPRequestHead) -> CallerClass? { nil }
}

package indirect enum HTTPAdmission: Sendable {
  /// Accepts the body, up to `bodyLimit` bytes; `nil` means the server's own limit.
  ///
  /// - Parameter caller: whose part of the memory for bodies it takes; nil means that of the connection's address.
  case admit(bodyLimit: Int? = nil, as: CallerClass? = nil)
  /// Responds immediately and discards the body.
  ///
  /// - Parameter reason: one of few words, for the metric.
  case refuse(HTTPResponse, because: String = "")
  /// Decides later; no byte of the body is accepted until then.
  case decide(@Sendable () async -> HTTPAdmission)
}

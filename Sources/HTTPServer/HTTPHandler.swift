/// Whoever answers the requests.
package protocol HTTPHandler: Sendable {
  /// Decides on the head alone, before any byte of the body is taken.
  ///
  /// Runs on the thread that serves the connection: it must not block, and it cannot wait.
  func admit(_ head: HTTPRequestHead) -> HTTPAdmission

  /// The class of whoever sent a request that is not admitted, or not yet; that of the connection's address if `nil`.
  ///
  /// While such a request is decided on, or its body is thrown away, the connection counts as one of that class. Runs where
  /// `admit` does.
  func caller(of head: HTTPRequestHead) -> CallerClass?

  /// Answers the request. Cancelled when the time to answer is over or the server stops; its answer is then dropped.
  ///
  /// Starts on the thread that serves the connection and leaves it at the first real `await`; what blocks must be
  /// behind one.
  func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPHandler {
  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit() }
  package func caller(of head: HTTPRequestHead) -> CallerClass? { nil }
}

/// What becomes of a request once its head is known.
package indirect enum HTTPAdmission: Sendable {
  /// Takes the body, up to `bodyLimit` bytes; the server's own limit if `nil`.
  /// - Parameter caller: whose part of the memory for bodies it takes; that of the connection's address if `nil`.
  case admit(bodyLimit: Int? = nil, as: CallerClass? = nil)
  /// Answers at once; the body is not kept.
  /// - Parameter reason: one of few words, for the metric.
  case refuse(HTTPResponse, because: String = "")
  /// Decides later; no byte of the body is taken until then.
  case decide(@Sendable () async -> HTTPAdmission)
}

/// Whoever answers the requests.
package protocol HTTPHandler: Sendable {
  /// Decides on the head alone, before any byte of the body is taken.
  ///
  /// Runs on the thread that serves the connection: it must not block, and it cannot wait.
  func admit(_ head: HTTPRequestHead) -> HTTPAdmission

  /// Answers the request. Cancelled when the time to answer is over or the server stops; its answer is then dropped.
  ///
  /// Starts on the thread that serves the connection and leaves it at the first real `await`; what blocks must be
  /// behind one.
  func respond(to request: HTTPRequest) async -> HTTPResponse
}

extension HTTPHandler {
  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit() }
}

/// What becomes of a request once its head is known.
package enum HTTPAdmission: Sendable {
  /// Takes the body, up to `bodyLimit` bytes; the server's own limit if `nil`.
  case admit(bodyLimit: Int? = nil)
  /// Answers at once; the body is not kept.
  case refuse(HTTPResponse)
}

/// An event outside of any request, for the log.
package enum HTTPServerEvent: Sendable {
  case listening(address: String, port: UInt16)
  /// - Parameter detail: the `RequestParseError` of a malformed or too large request, or the handler's reason;
  ///   otherwise empty.
  ///
  /// One of few words.
  case refused(HTTPRejection, peer: PeerAddress, detail: String)
  /// A class of callers uses 80% or more of its capacity; reported at most once a minute for each.
  case nearlyFull(HTTPCapacity, CallerClass, used: Int)
  /// The system did not return a connection (too many open files, for example); retried soon.
  case acceptFailed(reason: String)
  /// HTTP cannot express the handler's response; the client got a 500.
  case unsayableResponse(status: Int)
  case stopped(unfinished: Int)
}

/// The reason why the server rejected a request or a connection.
package enum HTTPRejection: String, Error, Sendable, CaseIterable {
  case tooManyConnections, tooManyFromAddress
  case tooFastFromAddress
  /// No byte of a request came in time.
  case silent
  case malformed, headTooLarge, bodyTooLarge
  /// The memory limit of all bodies together.
  case bodyBudget
  /// The memory limit, for a long response to a slow client.
  case answerBudget
  case notAdmitted
  /// The request did not arrive, or its response was not received, in time.
  case slowRequest, slowReader
  /// The handler did not respond in time.
  case unanswered
  case stopping
}

/// A capacity that is divided among the classes of callers.
package enum HTTPCapacity: String, Sendable, CaseIterable {
  case connections
  /// Bytes of request bodies, of handlers' data, and of long responses in flight.
  case bodies
}

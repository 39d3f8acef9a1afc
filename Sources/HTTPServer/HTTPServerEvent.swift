/// What happens outside any request, for whoever keeps a log.
package enum HTTPServerEvent: Sendable {
  case listening(address: String, port: UInt16)
  /// - Parameter detail: the `RequestParseError` of a request that is malformed or too large, the handler's reason of one that
  ///   it did not admit; else empty. One of few words.
  case refused(HTTPRejection, peer: PeerAddress, detail: String)
  /// A class of callers uses 80 % or more of what it may have; reported at most once a minute for each.
  case nearlyFull(HTTPCapacity, CallerClass, used: Int)
  /// The system would not hand over a connection (too many open files, say); tried again shortly.
  case acceptFailed(reason: String)
  /// The handler's answer cannot be said in HTTP; the client got a 500.
  case unsayableResponse(status: Int)
  case stopped(unfinished: Int)
}

/// Why the server itself turned a request or a connection away.
package enum HTTPRejection: String, Error, Sendable, CaseIterable {
  case tooManyConnections, tooManyFromAddress
  /// New connections of one address came faster than its rate allows.
  case tooFastFromAddress
  /// No byte of a request came within the time given.
  case silent
  case malformed, headTooLarge, bodyTooLarge
  /// All bodies together would have taken more memory than they may.
  case bodyBudget
  /// A long answer, kept for a client that may read slowly, would have taken more memory than all bodies may.
  case answerBudget
  /// The handler would not admit it.
  case notAdmitted
  /// The request did not arrive, or its answer was not taken, in time.
  case slowRequest, slowReader
  /// The handler did not answer in time.
  case unanswered
  /// The server is stopping.
  case stopping
}

/// What is divided among the classes of callers.
package enum HTTPCapacity: String, Sendable, CaseIterable {
  case connections
  /// Bytes that the bodies of requests, what is held to answer them, and long answers on their way take.
  case bodies
}

/// What happens outside any request, for whoever keeps a log.
package enum HTTPServerEvent: Sendable {
  case listening(address: String, port: UInt16)
  case refused(HTTPRefusal, peer: PeerAddress)
  /// The system would not hand over a connection (too many open files, say); tried again shortly.
  case acceptFailed(reason: String)
  /// The handler's answer cannot be said in HTTP; the client got a 500.
  case unsayableResponse(status: Int)
  /// A remark of the HTTP library (it may quote what a client sent).
  case library(String)
  case stopped(unfinished: Int)
}

/// Why the server itself turned a request or a connection away.
package enum HTTPRefusal: String, Sendable, CaseIterable {
  case tooManyConnections, tooManyFromAddress
  case malformed, headTooLarge, bodyTooLarge
  /// All bodies together would have taken more memory than they may.
  case bodyBudget
  /// The handler would not admit it.
  case notAdmitted
  /// The request did not arrive, or its answer was not taken, in time.
  case slowRequest, slowReader
  /// The handler did not answer in time.
  case unanswered
  /// The server is stopping.
  case stopping
}

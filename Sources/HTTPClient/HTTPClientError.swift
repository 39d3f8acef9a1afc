/// Why there is no response.
///
/// The detail names at most the host: no path, no query, no header.
package struct HTTPClientError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// The request cannot be said: a header with a line break, a method that is no word.
    case invalidRequest
    case unsupportedURL
    case couldNotResolve
    /// No connection, or one that ended before TLS was agreed: nothing of the request has gone out.
    case couldNotConnect
    /// The peer is not the one that was asked for, by its certificate.
    case tlsFailed
    case timedOut
    case tooLarge
    /// Whoever asked has no memory for the answer; see `ClientRequest.admit`.
    case noRoom
    /// The peer ended the connection before the response was complete. It may have seen the request.
    case closed
    case malformedResponse
    case cancelled
    /// The client has been shut down.
    case shutDown
    case other
  }

  package var code: Code
  package var detail: String
  /// Of `cancelled` and `shutDown`: whether some of the request had gone out, so that the peer may have seen it.
  package var wasBegun: Bool

  package init(_ code: Code, _ detail: String, wasBegun: Bool = false) {
    self.code = code
    self.detail = detail
    self.wasBegun = wasBegun
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package var description: String { "\(code.rawValue): \(detail)" }
}

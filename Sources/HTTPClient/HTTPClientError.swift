/// Why there is no response.
///
/// The detail names at most the host: no path, no query, no header.
package struct HTTPClientError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// The request cannot be said: a header with a line break, a method that is no word.
    case invalidRequest
    case unsupportedURL
    case couldNotResolve, couldNotConnect, tlsFailed
    case timedOut
    case tooLarge
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

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  package var description: String { "\(code.rawValue): \(detail)" }
}

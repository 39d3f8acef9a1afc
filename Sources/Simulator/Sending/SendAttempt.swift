import HTTPClient
package import JSON
package import Time

/// One attempt to deliver a notification; Apple: sendAttemptItem.
package struct SendAttempt: Hashable, Sendable {
  package enum Result: String, Hashable, Sendable, CaseIterable {
    case success = "SUCCESS"
    case timedOut = "TIMED_OUT"
    case tlsIssue = "TLS_ISSUE"
    case circularRedirect = "CIRCULAR_REDIRECT"
    case noResponse = "NO_RESPONSE"
    case socketIssue = "SOCKET_ISSUE"
    case unsupportedCharset = "UNSUPPORTED_CHARSET"
    case invalidResponse = "INVALID_RESPONSE"
    case prematureClose = "PREMATURE_CLOSE"
    case unsuccessfulHTTPResponseCode = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    case other = "OTHER"
  }

  package let date: Timestamp
  package let result: Result
  /// The receiver's status; `nil` without a response.
  package let httpStatus: Int?

  package init(at date: Timestamp, _ result: Result, httpStatus: Int? = nil) {
    self.date = date
    self.result = result
    self.httpStatus = httpStatus
  }

  /// - Parameter status: 200 to 206 is success, as Apple says.
  package init(at date: Timestamp, answered status: Int) {
    self.init(
      at: date, (200...206).contains(status) ? .success : .unsuccessfulHTTPResponseCode, httpStatus: status)
  }

  init(at date: Timestamp, failed error: HTTPClientError) {
    let result: Result =
      switch error.code {
      case .timedOut: .timedOut
      case .tlsFailed: .tlsIssue
      case .couldNotConnect: .socketIssue
      case .couldNotResolve: .noResponse
      case .closed: .prematureClose
      case .malformedResponse, .tooLarge, .noRoom: .invalidResponse
      case .invalidRequest, .unsupportedURL, .cancelled, .shutDown, .other: .other
      }
    self.init(at: date, result)
  }

  package var json: JSONObject {
    ["attemptDate": .integer(date.sinceEpoch), "sendAttemptResult": .string(result.rawValue)]
  }
}

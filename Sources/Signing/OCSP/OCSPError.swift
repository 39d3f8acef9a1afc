/// Why there is no answer about a certificate that could be believed.
package struct OCSPError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// No OCSP request, or one that asks for too much at once.
    case malformedRequest
    /// No OCSP response.
    case malformedResponse
    /// The responder says that it has no answer now; asking again may help.
    case unsuccessful
    /// An answer about other certificates.
    case notAsked
    /// An answer to somebody else's question.
    case nonceMismatch
    /// Signed by nobody who may speak for the issuer, or not signed rightly.
    case untrustedResponder
    /// An answer that is not valid yet.
    case notYetValid
    /// An answer whose next update is overdue, or that has none.
    case stale
    /// OpenSSL refused to make a request or a response.
    case cannotIssue
  }

  package let code: Code
  /// For people.
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package var description: String { "\(code.rawValue): \(detail)" }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

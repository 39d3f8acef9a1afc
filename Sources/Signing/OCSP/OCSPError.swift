/// The reason why no valid statement about a certificate exists.
package struct OCSPError: Error, Equatable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    /// The bytes are not an OCSP request, or one about too many certificates.
    case malformedRequest
    case malformedResponse
    /// The responder has no statement now; a retry may help.
    case unsuccessful
    case notAsked
    /// A response to another request.
    case nonceMismatch
    /// The signer may not respond for the issuer, or its signature is wrong.
    case untrustedResponder
    case notYetValid
    /// A response with an overdue or missing next update.
    case stale
    case cannotIssue
  }

  package let code: Code
  package let detail: String

  package init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }

  package var description: String { "\(code.rawValue): \(detail)" }

  package static func == (a: Self, b: Self) -> Bool { a.code == b.code }
}

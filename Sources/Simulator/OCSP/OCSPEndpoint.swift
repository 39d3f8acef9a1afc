import HTTPServer
import Signing
import Time

/// The simulated `ocsp.apple.com`.
///
/// `/ocsp/root` responds for intermediates, `/ocsp/intermediate` for the leaf, and each other intermediate has its own
/// path.
struct OCSPEndpoint: Sendable {
  private let authorities: [String: CertificateAuthority]
  /// Signs responses for an authority to which it does not belong.
  private let stranger: CertificateAuthority

  init(_ chains: SigningChains, stranger: CertificateAuthority) {
    authorities = chains.issuers.merging(["root": chains.pki.root]) { first, _ in first }
    self.stranger = stranger
  }

  /// Returns the path of the responder for certificates that `authority` issued.
  static func path(_ authority: String) -> String { "/ocsp/\(authority)" }

  /// Responds to POST with the request as body, or GET with it in base64 after the path (RFC 6960, appendix A.1).
  func answer(_ request: HTTPRequest, _ faults: [Fault], at now: Timestamp) -> HTTPResponse {
    let parts = request.path.split(separator: "/", maxSplits: 2)
    guard parts.count >= 2, let authority = authorities[String(parts[1])] else { return HTTPResponse(status: 404) }
    let question: [UInt8]
    switch request.method {
    case "POST" where parts.count == 2: question = request.body
    case "GET":
      // The whole rest, since base64 can contain slashes, even two in a row.
      let text = RawPath.rest(of: request.rawTarget, after: Self.path(String(parts[1])) + "/")
      guard let bytes = text.flatMap({ Base64.standard.decode($0) }) else { return Self.said(.malformedRequest) }
      question = bytes
    default: return HTTPResponse(status: 405, headers: ["Allow": "GET, POST"])
    }
    let kinds = Set(faults.map(\.kind))
    if kinds.contains(.tryLater) { return Self.said(.tryLater) }
    let status: OCSPAnswer.Status =
      kinds.contains(.revoked) ? .revoked(at: now - .days(1), reason: 1) : kinds.contains(.unknown) ? .unknown : .good
    let responder = OCSPResponder(for: authority, delegate: kinds.contains(.foreignSigner) ? stranger : nil)
    do {
      let date = kinds.contains(.stale) ? now - .days(30) : now
      return Self.response(try responder.answer(question, at: date) { _ in status })
    } catch {
      return Self.said(error.code == .malformedRequest ? .malformedRequest : .internalError)
    }
  }

  private static func said(_ refusal: OCSPResponder.Failure) -> HTTPResponse {
    response(OCSPResponder.refusal(refusal))
  }

  private static func response(_ der: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: 200, headers: ["Content-Type": "application/ocsp-response"], body: der)
  }
}

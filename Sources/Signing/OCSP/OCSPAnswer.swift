package import Time

/// What a responder said about one certificate, after its signature and its dates were checked.
package struct OCSPAnswer: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case good
    /// - Parameter reason: the number of RFC 5280's CRLReason; nil when none is given.
    case revoked(at: Timestamp, reason: Int? = nil)
    /// The responder does not know the certificate.
    case unknown
  }

  /// Who signed it.
  package enum Signer: Hashable, Sendable {
    /// The certificate's own issuer.
    case issuer
    /// A certificate that the issuer made for answering.
    case delegate
  }

  package let status: Status
  package let signer: Signer
  package let producedAt: Timestamp
  package let thisUpdate: Timestamp
  /// Until when the answer may be kept.
  package let nextUpdate: Timestamp
  /// Whether it was made for this very question, not ahead of it.
  package let isFresh: Bool
}

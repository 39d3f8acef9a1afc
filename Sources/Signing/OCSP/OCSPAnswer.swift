package import Time

/// A responder's statement about one certificate, with verified signature and dates.
package struct OCSPAnswer: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case good
    /// - Parameter reason: the number of RFC 5280's CRLReason; nil if missing.
    case revoked(at: Timestamp, reason: Int? = nil)
    /// The responder does not know the certificate.
    case unknown
  }

  package enum Signer: Hashable, Sendable {
    case issuer
    /// A certificate that the issuer made for responding.
    case delegate
  }

  package let status: Status
  package let signer: Signer
  package let producedAt: Timestamp
  package let thisUpdate: Timestamp
  /// The time until which the response may be cached.
  package let nextUpdate: Timestamp
  /// Whether it was made for this request, not ahead of it.
  package let isFresh: Bool
}

import COpenSSL

/// A request to an OCSP responder about the revocation of a certificate, RFC 6960.
///
/// This module only creates it; the caller sends it.
package struct OCSPRequest: Sendable {
  package let certificate: Certificate
  package let issuer: Certificate
  /// The body, posted as `application/ocsp-request`.
  package let der: [UInt8]
  let hash: SignatureHash

  /// - Parameters:
  ///   - hash: SHA-1 is the one that every responder supports; it names here and protects nothing.
  ///   - hasNonce: asks for a response made now; responders may ignore it.
  package init(
    for certificate: Certificate, issuer: Certificate, namedBy hash: SignatureHash = .sha1, hasNonce: Bool = true
  ) throws(OCSPError) {
    self.certificate = certificate
    self.issuer = issuer
    self.hash = hash
    guard let request = unsafe OCSP_REQUEST_new() else { throw OCSPError(.cannotIssue, "no memory for a request") }
    defer { unsafe OCSP_REQUEST_free(request) }
    guard let name = unsafe Self.name(certificate, issuer, hash) else {
      throw OCSPError(.cannotIssue, OpenSSLFailure.drain())
    }
    // The request owns the name from here on.
    guard unsafe OCSP_request_add0_id(request, name) != nil else {
      unsafe OCSP_CERTID_free(name)
      throw OCSPError(.cannotIssue, OpenSSLFailure.drain())
    }
    guard unsafe !hasNonce || OCSP_request_add1_nonce(request, nil, 16) == 1 else {
      throw OCSPError(.cannotIssue, OpenSSLFailure.drain())
    }
    der = unsafe Certificate.encoded { unsafe i2d_OCSP_REQUEST(request, $0) }
  }

  /// Returns OpenSSL's name of a certificate, owned by the caller.
  static func name(_ certificate: Certificate, _ issuer: Certificate, _ hash: SignatureHash) -> OpaquePointer? {
    unsafe certificate.withPointer { certificate in
      unsafe issuer.withPointer { issuer in
        unsafe hash.function.withPointer { unsafe OCSP_cert_to_id($0, certificate, issuer) }
      }
    }
  }

  /// Returns OpenSSL's request, owned by the caller; `nil` unless `der` is exactly one.
  static func read(_ der: [UInt8]) -> OpaquePointer? {
    unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      let request = unsafe d2i_OCSP_REQUEST(nil, &position, bytes.count)
      _ = OpenSSLFailure.drain()
      guard let start = bytes.baseAddress, let end = unsafe position, unsafe end - start == bytes.count else {
        unsafe OCSP_REQUEST_free(request)
        return nil
      }
      return unsafe request
    }
  }
}

import COpenSSL
package import Time

/// Answers OCSP requests about one authority's certificates: the simulator's `ocsp.apple.com`.
package struct OCSPResponder: Sendable {
  private let issuer: Certificate
  private let signer: CertificateAuthority
  private let period: Interval

  /// - Parameter delegate: signs instead of the issuer; issued by it, with `ocspSigning`.
  package init(for issuer: CertificateAuthority, delegate: CertificateAuthority? = nil, period: Interval = .hours(12)) {
    self.issuer = issuer.certificate
    signer = delegate ?? issuer
    self.period = period
  }

  /// The reason why a responder does not respond, in OCSP's terms.
  package enum Failure: Sendable, CaseIterable {
    case malformedRequest, internalError, tryLater, unauthorized
  }

  private static let questionLimit = 16

  /// Creates a signed response to every question in `request`, with its nonce if it has one.
  ///
  /// - Parameter status: of the certificate with this serial number, in hexadecimal and lower case; another authority's
  ///   is `unknown` without a call.
  package func answer(
    _ request: [UInt8], at now: Timestamp, status: (String) -> OCSPAnswer.Status
  ) throws(OCSPError) -> [UInt8] {
    guard let request = unsafe OCSPRequest.read(request) else { throw OCSPError(.malformedRequest, "no OCSP request") }
    defer { unsafe OCSP_REQUEST_free(request) }
    let count = unsafe OCSP_request_onereq_count(request)
    guard (1...Int32(Self.questionLimit)).contains(count) else {
      throw OCSPError(.malformedRequest, "\(count) questions in one request")
    }
    guard let basic = unsafe OCSP_BASICRESP_new() else { throw OCSPError(.cannotIssue, "no memory for an answer") }
    defer { unsafe OCSP_BASICRESP_free(basic) }
    for index in 0..<count {
      guard let question = unsafe OCSP_request_onereq_get0(request, index),
        let name = unsafe OCSP_onereq_get0_id(question), unsafe add(name, status, now, to: basic)
      else { throw OCSPError(.cannotIssue, OpenSSLFailure.drain()) }
    }
    // Named by its key, as Apple's responders are: some clients do not know them by name.
    let flags = UInt(OCSP_NOTIME | OCSP_RESPID_KEY)
    let isSigned = unsafe signer.certificate.withPointer { certificate in
      unsafe signer.key.withPointer { key in
        let digest = unsafe EVP_PKEY_get_bits(key) == 384 ? EVP_sha384() : EVP_sha256()
        return unsafe OCSP_copy_nonce(basic, request) > 0
          && shim_ocsp_set_produced_at(basic, Int(now.wholeSeconds)) == 1
          && OCSP_basic_sign(basic, certificate, key, digest, nil, flags) == 1
      }
    }
    guard isSigned, let response = unsafe OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic) else {
      throw OCSPError(.cannotIssue, OpenSSLFailure.drain())
    }
    defer { unsafe OCSP_RESPONSE_free(response) }
    return unsafe Certificate.encoded { unsafe i2d_OCSP_RESPONSE(response, $0) }
  }

  /// Returns the unsigned response of a responder without a statement.
  package static func refusal(_ refusal: Failure) -> [UInt8] {
    let status =
      switch refusal {
      case .malformedRequest: OCSP_RESPONSE_STATUS_MALFORMEDREQUEST
      case .internalError: OCSP_RESPONSE_STATUS_INTERNALERROR
      case .tryLater: OCSP_RESPONSE_STATUS_TRYLATER
      case .unauthorized: OCSP_RESPONSE_STATUS_UNAUTHORIZED
      }
    guard let response = unsafe OCSP_response_create(status, nil) else { return [] }
    defer { unsafe OCSP_RESPONSE_free(response) }
    return unsafe Certificate.encoded { unsafe i2d_OCSP_RESPONSE(response, $0) }
  }

  private func add(
    _ name: OpaquePointer, _ status: (String) -> OCSPAnswer.Status, _ now: Timestamp, to basic: OpaquePointer
  ) -> Bool {
    let verdict = unsafe serialNumber(ifOurs: name).map(status) ?? .unknown
    var revoked: UnsafeMutablePointer<ASN1_TIME>?
    let (code, reason): (Int32, Int32)
    switch verdict {
    case .good: (code, reason) = (V_OCSP_CERTSTATUS_GOOD, 0)
    case .unknown: (code, reason) = (V_OCSP_CERTSTATUS_UNKNOWN, 0)
    case .revoked(let date, let why):
      (code, reason) = (
        V_OCSP_CERTSTATUS_REVOKED, why.map(Int32.init(truncatingIfNeeded:)) ?? OCSP_REVOKED_STATUS_NOSTATUS
      )
      unsafe revoked = ASN1_TIME_set(nil, Int(date.wholeSeconds))
    }
    let this = unsafe ASN1_TIME_set(nil, Int(now.wholeSeconds))
    let next = unsafe ASN1_TIME_set(nil, Int((now + period).wholeSeconds))
    defer {
      unsafe ASN1_TIME_free(revoked)
      unsafe ASN1_TIME_free(this)
      unsafe ASN1_TIME_free(next)
    }
    return unsafe OCSP_basic_add1_status(basic, name, code, reason, revoked, this, next) != nil
  }

  /// Returns `nil` if the certificate comes from another authority.
  private func serialNumber(ifOurs name: OpaquePointer) -> String? {
    var algorithm: OpaquePointer?
    var number: UnsafeMutablePointer<ASN1_INTEGER>?
    guard unsafe OCSP_id_get0_info(nil, &algorithm, nil, &number, name) == 1, let algorithm = unsafe algorithm,
      let digest = unsafe shim_digest_of_object(algorithm)
    else { return nil }
    let isOurs = unsafe issuer.withPointer { issuer in
      guard let own = unsafe OCSP_cert_to_id(digest, nil, issuer) else { return false }
      defer { unsafe OCSP_CERTID_free(own) }
      return unsafe OCSP_id_issuer_cmp(own, name) == 0
    }
    return isOurs ? unsafe Certificate.hexadecimal(number) : nil
  }
}

import COpenSSL
package import Time

extension OCSPRequest {
  /// The limit of a response in bytes; Apple's have about 2,000.
  package static let answerLimit = 64 << 10

  /// Returns a responder's statement after checks of signer, signature, nonce and dates.
  ///
  /// The signer must be the issuer itself or a certificate that the issuer made for responding (RFC 6960 section
  /// 4.2.2.2), valid at `now`. A returned nonce must equal the request's; a missing one means that the response was
  /// made ahead.
  ///
  /// - Parameter tolerance: the allowed error of the responder's clock.
  package func answer(
    in response: [UInt8], at now: Timestamp, tolerance: Interval = .minutes(5)
  ) throws(OCSPError) -> OCSPAnswer {
    let basic = try unsafe successfulAnswer(in: response)
    defer { unsafe OCSP_BASICRESP_free(basic) }
    guard let request = unsafe Self.read(der) else { throw OCSPError(.malformedRequest, "the request is not valid") }
    defer { unsafe OCSP_REQUEST_free(request) }
    // 1: equal; 2: neither has one; 3 and -1: only one of the two has one.
    let nonces = unsafe OCSP_check_nonce(request, basic)
    guard nonces != 0 else { throw OCSPError(.nonceMismatch, "an answer to another question") }
    let signer = try unsafe signer(of: basic, at: now)
    return try unsafe single(in: basic, signer, isFresh: nonces == 1, now, tolerance)
  }

  private func successfulAnswer(in der: [UInt8]) throws(OCSPError) -> OpaquePointer {
    guard der.count <= Self.answerLimit else { throw OCSPError(.malformedResponse, "\(der.count) bytes") }
    let response = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      let response = unsafe d2i_OCSP_RESPONSE(nil, &position, bytes.count)
      guard let start = bytes.baseAddress, let end = unsafe position, unsafe end - start == bytes.count else {
        unsafe OCSP_RESPONSE_free(response)
        return nil
      }
      return unsafe response
    }
    _ = OpenSSLFailure.drain()
    guard let response = unsafe response else { throw OCSPError(.malformedResponse, "no OCSP response") }
    defer { unsafe OCSP_RESPONSE_free(response) }
    let status = unsafe OCSP_response_status(response)
    guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
      throw unsafe OCSPError(.unsuccessful, String(cString: OCSP_response_status_str(Int(status))))
    }
    guard let basic = unsafe OCSP_response_get1_basic(response) else {
      throw OCSPError(.malformedResponse, "a response without an answer: \(OpenSSLFailure.drain())")
    }
    return unsafe basic
  }

  /// Trusts only the issuer, at `now`: its own key, or a delegate's below it.
  private func signer(of basic: OpaquePointer, at now: Timestamp) throws(OCSPError) -> OCSPAnswer.Signer {
    guard let store = unsafe X509_STORE_new(), let known = unsafe shim_x509_stack_new() else {
      throw OCSPError(.cannotIssue, "no memory to verify")
    }
    defer {
      unsafe X509_STORE_free(store)
      unsafe shim_x509_stack_free(known)
    }
    let isVerified = unsafe issuer.withPointer { issuer in
      unsafe X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), Int(now.wholeSeconds))
      return unsafe X509_STORE_add_cert(store, issuer) == 1
        && X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        && shim_x509_stack_push(known, issuer) > 0
        && OCSP_basic_verify(basic, known, store, 0) == 1
    }
    let reason = OpenSSLFailure.drain()
    guard isVerified else { throw OCSPError(.untrustedResponder, "not signed for the issuer: \(reason)") }
    var found: OpaquePointer?
    let isFound = unsafe OCSP_resp_get0_signer(basic, &found, known) == 1
    _ = OpenSSLFailure.drain()
    guard isFound, let found = unsafe found else { throw OCSPError(.untrustedResponder, "it is not signed") }
    return unsafe Certificate.fingerprint(of: found) == issuer.fingerprint ? .issuer : .delegate
  }

  private func single(
    in basic: OpaquePointer, _ signer: OCSPAnswer.Signer, isFresh: Bool, _ now: Timestamp, _ tolerance: Interval
  ) throws(OCSPError) -> OCSPAnswer {
    var (status, reason): (Int32, Int32) = (0, 0)
    var revoked: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var this: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
    // Responders may name the certificate with another hash than the request's.
    var isFound = false
    for hash in [hash] + SignatureHash.allCases where !isFound {
      guard let name = unsafe Self.name(certificate, issuer, hash) else { continue }
      defer { unsafe OCSP_CERTID_free(name) }
      isFound = unsafe OCSP_resp_find_status(basic, name, &status, &reason, &revoked, &this, &next) == 1
    }
    guard isFound else { throw OCSPError(.notAsked, "the answer is about other certificates") }
    func date(_ time: UnsafePointer<ASN1_GENERALIZEDTIME>?) -> Timestamp? {
      guard let time = unsafe time else { return nil }
      return unsafe Certificate.seconds(time).map { Timestamp($0 * 1_000) }
    }
    guard let thisUpdate = unsafe date(this), let producedAt = unsafe date(OCSP_resp_get0_produced_at(basic)) else {
      throw OCSPError(.malformedResponse, "an answer without dates")
    }
    guard let nextUpdate = unsafe date(next) else { throw OCSPError(.stale, "an answer without a next update") }
    guard thisUpdate <= now + tolerance, producedAt <= now + tolerance else {
      throw OCSPError(.notYetValid, "valid from \(thisUpdate.iso8601)")
    }
    guard nextUpdate >= now - tolerance else { throw OCSPError(.stale, "valid until \(nextUpdate.iso8601)") }
    let verdict: OCSPAnswer.Status
    switch status {
    case V_OCSP_CERTSTATUS_GOOD: verdict = .good
    case V_OCSP_CERTSTATUS_REVOKED:
      guard let date = unsafe date(revoked) else { throw OCSPError(.malformedResponse, "revoked without a date") }
      verdict = .revoked(at: date, reason: reason >= 0 ? Int(reason) : nil)
    default: verdict = .unknown
    }
    return OCSPAnswer(
      status: verdict, signer: signer, producedAt: producedAt, thisUpdate: thisUpdate, nextUpdate: nextUpdate,
      isFresh: isFresh)
  }
}

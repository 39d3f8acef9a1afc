import COpenSSL

/// OpenSSL's path validation (RFC 5280) for the signers of receipts, without time.
enum CertificatePath {
  /// Receipts have three certificates.
  private static let depth: Int32 = 4

  /// Returns the certificates from `leaf` to one of `anchors`, both included.
  static func find(
    from leaf: Certificate, others: [Certificate], anchors: [Certificate]
  ) throws(SignatureError) -> [Certificate] {
    guard !anchors.isEmpty else { throw SignatureError(.unknownRoot, "no trusted root is among the certificates") }
    let known = Dictionary(
      ([leaf] + others + anchors).map { ($0.fingerprint, $0) }, uniquingKeysWith: { first, _ in first })
    switch verify(leaf, others, anchors) {
    case .success(let fingerprints):
      let path = fingerprints.compactMap { known[$0] }
      guard path.count == fingerprints.count, path.count > 1, let last = path.last,
        anchors.contains(where: { $0.fingerprint == last.fingerprint })
      else { throw SignatureError(.unknownRoot, "the chain ends in no trusted root") }
      return path
    case .failure(let refusal): throw refusal
    }
  }

  private static func verify(
    _ leaf: Certificate, _ others: [Certificate], _ anchors: [Certificate]
  ) -> Result<[Digest], SignatureError> {
    guard let store = unsafe X509_STORE_new(), let context = unsafe X509_STORE_CTX_new(),
      let untrusted = unsafe shim_x509_stack_new()
    else { preconditionFailure("no memory to verify a chain") }
    defer {
      unsafe X509_STORE_CTX_free(context)
      unsafe X509_STORE_free(store)
      unsafe shim_x509_stack_free(untrusted)
      _ = OpenSSLFailure.drain()
    }
    for anchor in anchors { _ = unsafe anchor.withPointer { unsafe X509_STORE_add_cert(store, $0) } }
    for other in others { _ = unsafe other.withPointer { unsafe shim_x509_stack_push(untrusted, $0) } }
    let isBegun = unsafe leaf.withPointer { unsafe X509_STORE_CTX_init(context, store, $0, untrusted) == 1 }
    guard isBegun else { return .failure(SignatureError(.unknownRoot, OpenSSLFailure.drain())) }
    let parameters = unsafe X509_STORE_CTX_get0_param(context)
    // SHA-1 signed Apple's certificates until 2023, so they have no required security level; the purpose is the one of
    // OpenSSL's CMS.
    unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME) | UInt(X509_V_FLAG_PARTIAL_CHAIN))
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_depth(parameters, depth)
    _ = unsafe X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SMIME_SIGN)
    guard unsafe X509_verify_cert(context) == 1, let chain = unsafe X509_STORE_CTX_get0_chain(context) else {
      let code = unsafe X509_STORE_CTX_get_error(context)
      let reason = unsafe String(cString: X509_verify_cert_error_string(Int(code)))
      return .failure(SignatureError(.unknownRoot, "no chain to a trusted root: \(reason)"))
    }
    return .success(
      (0..<(unsafe shim_x509_stack_count(chain))).compactMap { index in
        unsafe shim_x509_stack_value(chain, index).map { unsafe Certificate.fingerprint(of: $0) }
      })
  }
}

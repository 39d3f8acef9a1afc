import COpenSSL

/// A set of trusted roots, with OpenSSL's validation of chains that end in them.
///
/// `@unchecked Sendable` because the store is only read after `init`.
@safe final class TrustStore: @unchecked Sendable {
  private let store: OpaquePointer
  private let roots: [Digest: Certificate]
  /// Distinguishes this set of roots from the verifier's others.
  let number: Int

  init(_ roots: [RootCertificate], number: Int) {
    guard let store = unsafe X509_STORE_new() else { preconditionFailure("no memory for a certificate store") }
    for root in roots {
      let isAdded = unsafe root.certificate.withPointer { unsafe X509_STORE_add_cert(store, $0) == 1 }
      precondition(isAdded, "a root cannot be added: \(OpenSSLFailure.drain())")
    }
    unsafe self.store = store
    self.roots = Dictionary(
      roots.map { ($0.certificate.fingerprint, $0.certificate) }, uniquingKeysWith: { first, _ in first })
    self.number = number
  }

  deinit { unsafe X509_STORE_free(store) }

  /// Returns the chain of exactly leaf, intermediate and a root of this store, with all checks except time and
  /// signature.
  func chain(leaf: Certificate, intermediate: Certificate) throws(VerificationError) -> CertificateChain {
    try checkMarkers(leaf: leaf, intermediate: intermediate)
    guard intermediate.isAuthority else {
      throw VerificationError(.brokenChain, "the intermediate is not allowed to issue certificates (CA:FALSE)")
    }
    let root = try root(of: leaf, intermediate)
    guard root.isAuthority else {
      throw VerificationError(.brokenChain, "the root is not allowed to issue certificates (CA:FALSE)")
    }
    let key: PublicKey
    do throws(CertificateError) { key = try leaf.publicKey() } catch {
      throw VerificationError(.leafKeyNotP256, error.detail)
    }
    guard key.isP256 else { throw VerificationError(.leafKeyNotP256, "the leaf's key is not on the curve P-256") }
    return CertificateChain(key: key, leaf: leaf, intermediate: intermediate, root: root)
  }

  private func checkMarkers(leaf: Certificate, intermediate: Certificate) throws(VerificationError) {
    let isLeaf = leaf.carries(.leaf)
    let isIntermediate = intermediate.carries(.intermediate)
    let isSwapped =
      (!isLeaf && (intermediate.carries(.leaf) || leaf.carries(.intermediate)))
      || (!isIntermediate && !isLeaf && leaf.carries(.intermediate))
    guard !isSwapped else {
      throw VerificationError(.swappedCertificates, "x5c[0] must be the leaf and x5c[1] the intermediate")
    }
    guard isLeaf else {
      throw VerificationError(.missingLeafMarker, "x5c[0] has no extension \(CertificateMarker.leaf.rawValue)")
    }
    guard isIntermediate else {
      throw VerificationError(
        .missingIntermediateMarker, "x5c[1] has no extension \(CertificateMarker.intermediate.rawValue)")
    }
  }

  private func root(of leaf: Certificate, _ intermediate: Certificate) throws(VerificationError) -> Certificate {
    switch verified(leaf, intermediate) {
    case .chain(let fingerprints):
      guard fingerprints.count == 3, fingerprints[1] == intermediate.fingerprint, let root = roots[fingerprints[2]]
      else {
        throw VerificationError(.brokenChain, "a chain of \(fingerprints.count) that is not leaf, x5c[1], trusted root")
      }
      return root
    case .refused(let reason, let depth):
      guard leaf.isIssued(by: intermediate) else {
        throw VerificationError(.brokenChain, "x5c[1] did not issue x5c[0]: \(reason)")
      }
      guard roots.values.contains(where: intermediate.isIssued(by:)) else {
        throw VerificationError(.unknownRoot, "no root trusted for this environment issued x5c[1]: \(reason)")
      }
      throw VerificationError(.brokenChain, "certificate \(depth) of the chain: \(reason)")
    }
  }

  private enum Outcome {
    /// The fingerprints from the leaf up.
    case chain([Digest])
    case refused(String, depth: Int)
  }

  private func verified(_ leaf: Certificate, _ intermediate: Certificate) -> Outcome {
    guard let context = unsafe X509_STORE_CTX_new(), let untrusted = unsafe shim_x509_stack_new() else {
      preconditionFailure("no memory to verify a chain")
    }
    defer {
      unsafe X509_STORE_CTX_free(context)
      unsafe shim_x509_stack_free(untrusted)
      _ = OpenSSLFailure.drain()
    }
    return unsafe leaf.withPointer { leaf in
      unsafe intermediate.withPointer { intermediate in
        guard unsafe shim_x509_stack_push(untrusted, intermediate) > 0,
          unsafe X509_STORE_CTX_init(context, store, leaf, untrusted) == 1
        else { return .refused("OpenSSL cannot begin: \(OpenSSLFailure.drain())", depth: 0) }
        let parameters = unsafe X509_STORE_CTX_get0_param(context)
        // Time is compared with each payload's own date. The rest is OpenSSL's path validation (RFC 5280), with keys
        // and digests of at least 112 bits of strength.
        unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_NO_CHECK_TIME))
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        unsafe X509_VERIFY_PARAM_set_depth(parameters, 1)
        guard unsafe X509_verify_cert(context) == 1 else {
          let code = unsafe X509_STORE_CTX_get_error(context)
          let reason = unsafe String(cString: X509_verify_cert_error_string(Int(code)))
          return .refused(reason, depth: Int(unsafe X509_STORE_CTX_get_error_depth(context)))
        }
        guard let chain = unsafe X509_STORE_CTX_get0_chain(context) else { return .chain([]) }
        let count = unsafe shim_x509_stack_count(chain)
        return .chain(
          (0..<count).compactMap { index in
            unsafe shim_x509_stack_value(chain, index).map { unsafe Certificate.fingerprint(of: $0) }
          })
      }
    }
  }
}

import COpenSSL
package import Time

/// Verifies a signed message with OpenSSL's own CMS, for comparison with this module's reader.
///
/// Ten times slower than `SignerVerifier`; only the tests and the simulated verifyReceipt use it.
package enum CMSVerification {
  /// Returns the content of `message` if its signer's chain ends in one of the roots at `date` and the signer is
  /// marked.
  package static func content(
    of message: [UInt8], trustedRoots: Set<Digest>, validAt date: Timestamp
  ) -> [UInt8]? {
    guard let bio = unsafe BIO_new_mem_buf(message, Int32(message.count)) else { return nil }
    defer {
      unsafe BIO_free_all(bio)
      _ = OpenSSLFailure.drain()
    }
    guard let cms = unsafe d2i_CMS_bio(bio, nil) else { return nil }
    defer { unsafe CMS_ContentInfo_free(cms) }
    guard let store = unsafe X509_STORE_new(), let output = unsafe BIO_new(BIO_s_mem()) else { return nil }
    defer {
      unsafe X509_STORE_free(store)
      unsafe BIO_free_all(output)
    }
    guard let certificates = unsafe CMS_get1_certs(cms) else { return nil }
    defer { unsafe shim_x509_stack_pop_free(certificates) }
    for index in 0..<(unsafe shim_x509_stack_count(certificates)) {
      guard let certificate = unsafe shim_x509_stack_value(certificates, index),
        unsafe trustedRoots.contains(Certificate.fingerprint(of: certificate))
      else { continue }
      _ = unsafe X509_STORE_add_cert(store, certificate)
    }
    guard let parameters = unsafe X509_VERIFY_PARAM_new() else { return nil }
    defer { unsafe X509_VERIFY_PARAM_free(parameters) }
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0)
    unsafe X509_VERIFY_PARAM_set_time(parameters, Int(date.wholeSeconds))
    guard unsafe X509_STORE_set1_param(store, parameters) == 1,
      unsafe CMS_verify(cms, nil, store, nil, output, UInt32(CMS_BINARY)) == 1, unsafe isMarked(cms)
    else { return nil }
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe shim_bio_memory(output, &start)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  private static func isMarked(_ cms: OpaquePointer) -> Bool {
    guard let signers = unsafe CMS_get0_signers(cms) else { return false }
    defer { unsafe shim_x509_stack_free(signers) }
    guard unsafe shim_x509_stack_count(signers) == 1, let signer = unsafe shim_x509_stack_value(signers, 0),
      let marker = unsafe OBJ_txt2obj(CertificateMarker.leaf.rawValue, 1)
    else { return false }
    defer { unsafe ASN1_OBJECT_free(marker) }
    return unsafe X509_get_ext_by_OBJ(signer, marker, -1) >= 0
  }
}

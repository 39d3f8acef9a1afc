import COpenSSL

/// An X.509 certificate, parsed once, read from any thread.
///
/// `@unchecked Sendable` because OpenSSL's object is only read after `init`, which also forces its lazy values.
@safe public final class Certificate: @unchecked Sendable {
  private let x509: OpaquePointer
  /// The SHA-256 of the DER encoding.
  public let fingerprint: Digest
  /// The seconds since 1970 at which it is valid, both ends included.
  package let validity: ClosedRange<Int64>

  /// Parses exactly one DER encoding without trailing bytes.
  public convenience init(der: [UInt8]) throws(CertificateError) {
    let parsed: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      let x509 = unsafe d2i_X509(nil, &position, bytes.count)
      guard let start = bytes.baseAddress, let end = unsafe position, unsafe end - start == bytes.count else {
        unsafe X509_free(x509)
        return nil
      }
      return unsafe x509
    }
    let reason = OpenSSLFailure.drain()
    guard let parsed = unsafe parsed else { throw CertificateError(.malformed, "not one DER certificate: \(reason)") }
    try unsafe self.init(takingOwnershipOf: parsed)
    guard self.der == der else {
      throw CertificateError(.malformed, "a certificate that is encoded in another way than DER prescribes")
    }
  }

  init(takingOwnershipOf x509: OpaquePointer) throws(CertificateError) {
    unsafe self.x509 = x509
    // Computes the extension flags; a failure sets EXFLAG_INVALID.
    _ = unsafe X509_check_purpose(x509, -1, 0)
    let isInvalid = unsafe X509_get_extension_flags(x509) & UInt32(EXFLAG_INVALID) != 0
    let from = unsafe Self.seconds(X509_get0_notBefore(x509))
    let until = unsafe Self.seconds(X509_get0_notAfter(x509))
    fingerprint = unsafe Self.fingerprint(of: x509)
    let dates: ClosedRange<Int64>? = if let from, let until, from <= until { from...until } else { nil }
    validity = dates ?? 0...0
    _ = OpenSSLFailure.drain()
    guard !isInvalid else {
      throw CertificateError(.invalidExtensions, "extensions that are malformed or contradict each other")
    }
    guard dates != nil else { throw CertificateError(.invalidDates, "a certificate without a period of validity") }
  }

  deinit { unsafe X509_free(x509) }

  /// Passes OpenSSL's object to `body`.
  func withPointer<Result: ~Copyable>(_ body: (OpaquePointer) -> Result) -> Result {
    unsafe body(x509)
  }

  static func fingerprint(of x509: OpaquePointer) -> Digest {
    unsafe Digest.sha256(encoded { output in unsafe i2d_X509(x509, output) })
  }

  package var der: [UInt8] { unsafe Self.encoded { output in unsafe i2d_X509(x509, output) } }

  public var serialNumber: String { unsafe Self.hexadecimal(X509_get0_serialNumber(x509)) }

  static func hexadecimal(_ number: UnsafePointer<ASN1_INTEGER>?) -> String {
    guard let number = unsafe number, let big = unsafe ASN1_INTEGER_to_BN(number, nil) else { return "" }
    defer { unsafe BN_free(big) }
    guard let text = unsafe BN_bn2hex(big) else { return "" }
    defer { unsafe CRYPTO_free(text, #file, #line) }
    return unsafe String(cString: text).lowercased()
  }

  /// Whether basicConstraints permit it to issue certificates; false without them.
  package var isAuthority: Bool {
    let flags = unsafe X509_get_extension_flags(x509)
    return flags & UInt32(EXFLAG_BCONS) != 0 && flags & UInt32(EXFLAG_CA) != 0
  }

  package var isSelfSigned: Bool { unsafe X509_self_signed(x509, 1) == 1 }

  package func carries(_ marker: CertificateMarker) -> Bool {
    guard let object = unsafe OBJ_txt2obj(marker.rawValue, 1) else { return false }
    defer { unsafe ASN1_OBJECT_free(object) }
    return unsafe X509_get_ext_by_OBJ(x509, object, -1) >= 0
  }

  /// Whether `issuer`'s name and key made this certificate.
  func isIssued(by issuer: Certificate) -> Bool {
    let isIssued = unsafe X509_check_issued(issuer.x509, x509) == X509_V_OK
    guard isIssued, let key = unsafe X509_get0_pubkey(issuer.x509) else { return false }
    let isSigned = unsafe X509_verify(x509, key) == 1
    _ = OpenSSLFailure.drain()
    return isSigned
  }

  /// The OCSP responders of its issuer, from the authority information access.
  package var ocspURLs: [String] {
    guard let urls = unsafe shim_ocsp_urls(x509) else { return [] }
    defer { unsafe shim_string_stack_free(urls) }
    return unsafe (0..<shim_string_stack_count(urls)).compactMap { index in
      unsafe shim_string_stack_value(urls, index).map { unsafe String(cString: $0) }
    }
  }

  package func publicKey() throws(CertificateError) -> PublicKey {
    let key = unsafe X509_get_pubkey(x509)
    let reason = OpenSSLFailure.drain()
    guard let key = unsafe key else { throw CertificateError(.unusableKey, "a key that cannot be used: \(reason)") }
    return unsafe PublicKey(takingOwnershipOf: key)
  }

  /// Returns seconds since 1970; `nil` for an invalid date.
  static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
    defer { unsafe ASN1_TIME_free(epoch) }
    var (days, seconds): (Int32, Int32) = (0, 0)
    guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
    return Int64(days) * 86_400 + Int64(seconds)
  }

  /// Returns the DER that one of OpenSSL's encoders writes; empty if it fails.
  static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
    let count = Int(encode(nil))
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
      var position = bytes.baseAddress
      filled = unsafe max(0, Int(encode(&position)))
    }
  }
}

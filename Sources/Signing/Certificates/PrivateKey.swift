import COpenSSL

/// A private key of any kind, to sign certificates and tokens.
///
/// `@unchecked Sendable` because the key is never changed after `init`, and each signature has its own context. OpenSSL
/// wipes the secret numbers when the key is freed.
@safe package final class PrivateKey: @unchecked Sendable {
  package enum Kind: String, Sendable, CaseIterable {
    case p256, p384, rsa2048
    /// Only of the signers of iOS 6 receipts, until 2016.
    case rsa1024
  }

  private let key: OpaquePointer

  private init(takingOwnershipOf key: OpaquePointer) { unsafe self.key = key }

  deinit { unsafe EVP_PKEY_free(key) }

  package static func generate(_ kind: Kind) throws(CertificateError) -> PrivateKey {
    let key =
      switch kind {
      case .p256: unsafe shim_generate_ec("P-256")
      case .p384: unsafe shim_generate_ec("P-384")
      case .rsa2048: unsafe shim_generate_rsa(2_048)
      case .rsa1024: unsafe shim_generate_rsa(1_024)
      }
    let reason = OpenSSLFailure.drain()
    guard let key = unsafe key else { throw CertificateError(.cannotIssue, "no \(kind.rawValue) key: \(reason)") }
    return unsafe PrivateKey(takingOwnershipOf: key)
  }

  /// Reads unencrypted PKCS#8 in PEM, like Apple's `.p8` files.
  package convenience init(pem: [UInt8]) throws(CertificateError) {
    guard let der = PEM.blocks("PRIVATE KEY", in: pem)?.first else {
      throw CertificateError(.malformed, "no unencrypted PKCS#8 key in PEM (-----BEGIN PRIVATE KEY-----)")
    }
    let parsed: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      guard let info = unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, &position, bytes.count) else { return nil }
      defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
      return unsafe EVP_PKCS82PKEY(info)
    }
    let reason = OpenSSLFailure.drain()
    guard let parsed = unsafe parsed else {
      throw CertificateError(.malformed, "a PEM block that is not a PKCS#8 key: \(reason)")
    }
    unsafe self.init(takingOwnershipOf: parsed)
  }

  /// Returns unencrypted PKCS#8 in PEM, for files that only their owner may read.
  package func pem() throws(CertificateError) -> [UInt8] {
    guard let bio = unsafe BIO_new(BIO_s_secmem()) else {
      throw CertificateError(.cannotIssue, "no memory for a key")
    }
    defer { unsafe BIO_free_all(bio) }
    guard unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 else {
      throw CertificateError(.unusableKey, "a key that cannot be written: \(OpenSSLFailure.drain())")
    }
    var start: UnsafeMutablePointer<CChar>?
    let count = unsafe shim_bio_memory(bio, &start)
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  package func publicKey() throws(CertificateError) -> PublicKey {
    guard unsafe EVP_PKEY_up_ref(key) == 1 else { throw CertificateError(.unusableKey, "a key without a public half") }
    return unsafe PublicKey(takingOwnershipOf: key)
  }

  /// Passes OpenSSL's object to `body`.
  func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { unsafe body(key) }

  /// Returns the signature of `bytes` hashed with SHA-256: DER for elliptic curves, PKCS#1 for RSA.
  package func signature(
    of bytes: [UInt8], hashedWith hash: SignatureHash = .sha256
  ) throws(CertificateError) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { throw CertificateError(.cannotIssue, "no memory to sign") }
    defer { unsafe EVP_MD_CTX_free(context) }
    var count = 0
    let isBegun = unsafe hash.function.withPointer { unsafe EVP_DigestSignInit(context, nil, $0, nil, key) == 1 }
    guard isBegun, unsafe EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
    else { throw CertificateError(.unusableKey, "a key that cannot sign: \(OpenSSLFailure.drain())") }
    var signature = [UInt8](repeating: 0, count: count)
    guard unsafe EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
      throw CertificateError(.unusableKey, "a key that cannot sign: \(OpenSSLFailure.drain())")
    }
    return Array(signature.prefix(count))
  }
}

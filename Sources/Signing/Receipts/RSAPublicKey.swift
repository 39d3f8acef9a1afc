import COpenSSL
import Synchronization

/// An RSA key and OpenSSL's contexts to verify PKCS#1 v1.5 signatures with it, from any thread.
///
/// `@unchecked Sendable` because the key itself is never changed; a context is used by one caller at a time, which
/// removes it from the idle ones.
@safe package final class RSAPublicKey: @unchecked Sendable {
  private let key: OpaquePointer
  private let idle = Mutex<[RSAVerification]>([])
  /// The stored contexts for each hash; more may exist while that many threads verify in parallel.
  private static let idleLimit = 16

  package init(of certificate: Certificate) throws(CertificateError) {
    let key = unsafe certificate.withPointer { unsafe X509_get_pubkey($0) }
    let reason = OpenSSLFailure.drain()
    guard let key = unsafe key else { throw CertificateError(.unusableKey, "a key that cannot be used: \(reason)") }
    guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
      unsafe EVP_PKEY_free(key)
      throw CertificateError(.unusableKey, "the signer's key is not RSA")
    }
    unsafe self.key = key
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Whether this key's private half signed `content`.
  package func verifies(_ signature: Span<UInt8>, of content: Span<UInt8>, hashedWith hash: SignatureHash) -> Bool {
    let known = idle.withLock { idle in idle.lastIndex { $0.hash == hash }.map { idle.remove(at: $0) } }
    let context = unsafe known ?? RSAVerification(with: key, hash)
    defer { idle.withLock { if $0.count < 2 * Self.idleLimit { $0.append(context) } } }
    return context.verifies(signature, of: content)
  }
}

/// An initialized `EVP_PKEY_CTX`, whose creation costs a lookup in OpenSSL's providers.
///
/// `@unchecked Sendable` because it travels between threads only through the mutex of its key.
@safe private final class RSAVerification: @unchecked Sendable {
  let hash: SignatureHash
  private let context: OpaquePointer

  init(with key: OpaquePointer, _ hash: SignatureHash) {
    self.hash = hash
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil), unsafe EVP_PKEY_verify_init(context) == 1,
      unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
      unsafe hash.function.withPointer({ unsafe EVP_PKEY_CTX_set_signature_md(context, $0) }) == 1
    else { preconditionFailure("no verification with an RSA key: \(OpenSSLFailure.drain())") }
    unsafe self.context = context
  }

  deinit { unsafe EVP_PKEY_CTX_free(context) }

  func verifies(_ signature: Span<UInt8>, of content: Span<UInt8>) -> Bool {
    let result = unsafe hash.function.withHash(of: content) { hash in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe EVP_PKEY_verify(context, signature.baseAddress, signature.count, hash.baseAddress, hash.count)
      }
    }
    // A failure leaves errors in the queue of this thread.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }
}

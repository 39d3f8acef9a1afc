import COpenSSL
import Synchronization

/// A public key and OpenSSL's contexts to verify with it, from any thread.
///
/// `@unchecked Sendable` because the key itself is never changed; a context is used by one caller at a time, which
/// removes it from the idle ones.
@safe package final class PublicKey: @unchecked Sendable {
  private let key: OpaquePointer
  private let idle = Mutex<[VerificationContext]>([])
  /// The stored contexts; more may exist while that many threads verify in parallel.
  private static let idleLimit = 16

  init(takingOwnershipOf key: OpaquePointer) { unsafe self.key = key }

  package convenience init(der: [UInt8]) throws(CertificateError) {
    let key = unsafe der.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return unsafe d2i_PUBKEY(nil, &position, bytes.count)
    }
    let reason = OpenSSLFailure.drain()
    guard let key = unsafe key else { throw CertificateError(.malformed, "not a public key in DER: \(reason)") }
    unsafe self.init(takingOwnershipOf: key)
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// The point of P-256 in X9.62 form; empty for another key.
  package var point: [UInt8] {
    var point = [UInt8](repeating: 0, count: 65)
    var count = 0
    let isRead = unsafe EVP_PKEY_get_octet_string_param(key, "pub", &point, point.count, &count) == 1
    _ = OpenSSLFailure.drain()
    return isRead ? Array(point.prefix(count)) : []
  }

  /// Whether it is on the curve P-256, the only one of ES256.
  package var isP256: Bool {
    guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else { return false }
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    let isNamed = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1
    _ = OpenSSLFailure.drain()
    return isNamed && name.prefix(count).elementsEqual("prime256v1".utf8.map { CChar($0) })
  }

  /// Whether `signature`, r and s of 32 bytes each, was made for `digest` with this key's private half.
  package func verifies(_ signature: RawSignature, of digest: Digest) -> Bool {
    let context = unsafe idle.withLock { $0.popLast() } ?? VerificationContext(for: key)
    defer { idle.withLock { if $0.count < Self.idleLimit { $0.append(context) } } }
    return context.verifies(signature, of: digest)
  }
}

/// An initialized `EVP_PKEY_CTX`, whose creation costs a lookup in OpenSSL's providers.
///
/// `@unchecked Sendable` because it travels between threads only through the mutex of its key.
@safe private final class VerificationContext: @unchecked Sendable {
  private let context: OpaquePointer

  init(for key: OpaquePointer) {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil), unsafe EVP_PKEY_verify_init(context) == 1
    else { preconditionFailure("no verification with this key: \(OpenSSLFailure.drain())") }
    unsafe self.context = context
  }

  deinit { unsafe EVP_PKEY_CTX_free(context) }

  func verifies(_ signature: RawSignature, of digest: Digest) -> Bool {
    let der = signature.der
    let result = unsafe withUnsafeBytes(of: digest.words) { digest in
      unsafe EVP_PKEY_verify(
        context, der, der.count, digest.assumingMemoryBound(to: UInt8.self).baseAddress, digest.count)
    }
    // A refusal leaves errors in the queue of this thread.
    if result != 1 { ERR_clear_error() }
    return result == 1
  }
}

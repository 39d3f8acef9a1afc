import COpenSSL

/// A SHA-256 state after a prefix, to be continued any number of times and from any thread.
///
/// The header of a JWS is 3-4 KB, the same for thousands of messages, and signed together with the payload, so its
/// blocks are hashed only once.
///
/// `@unchecked Sendable` because the context is never changed after `init`; each use continues a copy.
@safe final class SHA256Prefix: @unchecked Sendable {
  private let context: OpaquePointer

  static let empty = SHA256Prefix()

  private init() {
    // Fetched once: a lookup in the providers for each digest costs more than hashing a short message.
    guard let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil), let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_DigestInit_ex2(context, sha256, nil) == 1
    else { preconditionFailure("SHA-256 is not available: \(OpenSSLFailure.drain())") }
    unsafe EVP_MD_free(sha256)
    unsafe self.context = context
  }

  init(absorbing bytes: ArraySlice<UInt8>) {
    unsafe context = Self.empty.continued()
    let isAbsorbed = unsafe bytes.withUnsafeBytes { [context] bytes in
      unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    }
    precondition(isAbsorbed, "SHA-256 failed")
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Returns the SHA-256 of the prefix followed by `bytes`.
  func digest(appending bytes: ArraySlice<UInt8>) -> Digest {
    unsafe bytes.withUnsafeBytes { unsafe digest(appending: $0) }
  }

  func digest(appending bytes: UnsafeRawBufferPointer) -> Digest {
    let copy = unsafe continued()
    defer { unsafe EVP_MD_CTX_free(copy) }
    return unsafe Digest { room in
      let output = unsafe room.assumingMemoryBound(to: UInt8.self).baseAddress
      let isAbsorbed = unsafe EVP_DigestUpdate(copy, bytes.baseAddress, bytes.count) == 1
      let isFinished = unsafe EVP_DigestFinal_ex(copy, output, nil) == 1
      precondition(isAbsorbed && isFinished, "SHA-256 failed")
    }
  }

  private func continued() -> OpaquePointer {
    guard let copy = unsafe EVP_MD_CTX_new(), unsafe EVP_MD_CTX_copy_ex(copy, context) == 1 else {
      preconditionFailure("SHA-256 cannot be continued: \(OpenSSLFailure.drain())")
    }
    return unsafe copy
  }
}

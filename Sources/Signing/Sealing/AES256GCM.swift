import COpenSSL

/// AES-256-GCM (NIST SP 800-38D) with a 96-bit nonce and a 128-bit tag.
///
/// A nonce must never be used twice under one key; random ones are good for 2^32 messages.
enum AES256GCM {
  static func encrypt(
    _ plaintext: [UInt8], key: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], tag: inout [UInt8]
  ) -> [UInt8] {
    let context = unsafe Context(key: key, nonce: nonce, isEncrypting: true)
    let ciphertext = context.update(plaintext, associated: associated)
    let isFinished = context.finish()
    let hasTag = unsafe shim_gcm_get_tag(context.pointer, Int32(tag.count), &tag) == 1
    precondition(isFinished && hasTag, "AES-256-GCM failed: \(OpenSSLFailure.drain())")
    return ciphertext
  }

  /// Returns `nil` if the tag does not fit; the plaintext is then wiped.
  static func decrypt(
    _ ciphertext: [UInt8], key: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8], tag: [UInt8]
  ) -> [UInt8]? {
    let context = unsafe Context(key: key, nonce: nonce, isEncrypting: false)
    var plaintext = context.update(ciphertext, associated: associated)
    var tag = tag
    let hasTag = unsafe shim_gcm_set_tag(context.pointer, Int32(tag.count), &tag) == 1
    guard hasTag, context.finish() else {
      plaintext.wipe()
      _ = OpenSSLFailure.drain()
      return nil
    }
    return plaintext
  }

  @safe private struct Context: ~Copyable {
    let pointer: OpaquePointer

    init(key: UnsafeRawBufferPointer, nonce: [UInt8], isEncrypting: Bool) {
      precondition(key.count == 32 && nonce.count == 12, "AES-256-GCM needs 32 bytes of key and 12 of nonce")
      let key = unsafe key.assumingMemoryBound(to: UInt8.self).baseAddress
      guard let pointer = unsafe EVP_CIPHER_CTX_new(),
        unsafe EVP_CipherInit_ex(pointer, EVP_aes_256_gcm(), nil, key, nonce, isEncrypting ? 1 : 0) == 1
      else { preconditionFailure("AES-256-GCM is not available: \(OpenSSLFailure.drain())") }
      unsafe self.pointer = pointer
    }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

    func update(_ input: [UInt8], associated: [UInt8]) -> [UInt8] {
      var count: Int32 = 0
      let isBound = unsafe EVP_CipherUpdate(pointer, nil, &count, associated, Int32(associated.count)) == 1
      var output = [UInt8](repeating: 0, count: input.count)
      let isDone = unsafe input.isEmpty || EVP_CipherUpdate(pointer, &output, &count, input, Int32(input.count)) == 1
      precondition(isBound && isDone, "AES-256-GCM failed: \(OpenSSLFailure.drain())")
      return output
    }

    /// Finishes without output; when decrypting, this compares the tag.
    func finish() -> Bool {
      var (rest, count): ([UInt8], Int32) = ([UInt8](repeating: 0, count: 16), 0)
      return unsafe EVP_CipherFinal_ex(pointer, &rest, &count) == 1
    }
  }
}

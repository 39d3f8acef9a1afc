import COpenSSL
import Signing

/// What no reader of receipts can do without: base64, a digest, one RSA verification with the key ready.
@safe final class BareReceipts {
  private let context: OpaquePointer
  private let key: OpaquePointer
  private let hash: OpaquePointer
  private let receipts: [(text: [UInt8], content: [UInt8])]

  init(_ receipts: [(text: [UInt8], content: [UInt8])], signer der: [UInt8]) throws {
    let parsed: OpaquePointer? = unsafe der.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return unsafe d2i_X509(nil, &position, bytes.count)
    }
    guard let certificate = unsafe parsed else { throw BenchmarkError("no certificate") }
    defer { unsafe X509_free(certificate) }
    guard let key = unsafe X509_get_pubkey(certificate), let hash = unsafe EVP_MD_fetch(nil, "SHA256", nil),
      let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil), unsafe EVP_PKEY_verify_init(context) == 1,
      unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1,
      unsafe EVP_PKEY_CTX_set_signature_md(context, hash) == 1
    else { throw BenchmarkError("no verification") }
    unsafe (self.key, self.context, self.hash) = (key, context, hash)
    self.receipts = receipts
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_PKEY_free(key)
    unsafe EVP_MD_free(hash)
  }

  /// The signature stands at the end of each message.
  func run() throws {
    var digest = [UInt8](repeating: 0, count: 32)
    for receipt in receipts {
      guard let message = Base64.standard.decode(receipt.text) else { throw BenchmarkError("not base64") }
      let isHashed = unsafe EVP_Digest(receipt.content, receipt.content.count, &digest, nil, hash, nil) == 1
      let isSigned = unsafe message.withUnsafeBufferPointer { message in
        let signature = unsafe UnsafeBufferPointer(rebasing: message[(message.count - 256)...])
        return unsafe EVP_PKEY_verify(context, signature.baseAddress, signature.count, digest, digest.count) == 1
      }
      guard isHashed, isSigned else { throw BenchmarkError("not signed") }
    }
  }
}

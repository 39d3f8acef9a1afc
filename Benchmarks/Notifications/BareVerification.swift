import COpenSSL
import JSON
import Signing

/// Three ECDSA P-256 verifications of exactly the bytes that were signed, and nothing else.
///
/// No base64, no JSON, no certificates. The cheapest way that OpenSSL 3 offers for any key: the key parsed and the
/// algorithms fetched once, one context each for hashing and verifying that is used again and again.
/// (EVP_DigestVerifyInit for each signature costs a look-up more.) With a table for the key one is faster: see `KeyTable`.
@safe final class BareVerification {
  /// A signature and what it signs, ready for OpenSSL.
  private struct Signed {
    let input: [UInt8]
    let signature: [UInt8]
  }

  private let notifications: [[Signed]]
  private let key: OpaquePointer
  private let context: OpaquePointer
  private let hashing: OpaquePointer
  private let sha256: OpaquePointer

  /// - Parameter leaf: the DER of the certificate that signed all of them.
  convenience init(_ notifications: [[UInt8]], leaf: [UInt8]) throws {
    try self.init(tokens: try notifications.map(Self.tokens), leaf: leaf)
  }

  /// JWS in which no other is.
  convenience init(signed: [[UInt8]], leaf: [UInt8]) throws { try self.init(tokens: signed.map { [$0] }, leaf: leaf) }

  private init(tokens: [[[UInt8]]], leaf: [UInt8]) throws {
    notifications = try tokens.map { tokens in
      try tokens.map { token in
        let dot = token.lastIndex(of: UInt8(ascii: ".")) ?? 0
        guard let raw = Base64.url.decode(Array(token[(dot + 1)...])) else { throw BenchmarkError("no signature") }
        return Signed(input: Array(token[..<dot]), signature: Self.der(raw))
      }
    }
    let certificate = unsafe leaf.withUnsafeBufferPointer { bytes in
      var position = bytes.baseAddress
      return unsafe d2i_X509(nil, &position, bytes.count)
    }
    defer { unsafe X509_free(certificate) }
    guard let key = unsafe X509_get_pubkey(certificate),
      let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil), unsafe EVP_PKEY_verify_init(context) == 1,
      let hashing = unsafe EVP_MD_CTX_new(), let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    else { throw BenchmarkError("OpenSSL cannot verify with this certificate") }
    unsafe self.key = key
    unsafe self.context = context
    unsafe self.hashing = hashing
    unsafe self.sha256 = sha256
  }

  deinit {
    unsafe EVP_MD_CTX_free(hashing)
    unsafe EVP_MD_free(sha256)
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_PKEY_free(key)
  }

  /// Signatures of all notifications.
  var signatureCount: Int { notifications.reduce(0) { $0 + $1.count } }

  /// Verifies every signature once.
  func run() throws {
    var digest = [UInt8](repeating: 0, count: 32)
    for signed in notifications.joined() {
      let isGood = unsafe signed.input.withUnsafeBytes { input in
        unsafe EVP_DigestInit_ex2(hashing, sha256, nil) == 1
          && EVP_DigestUpdate(hashing, input.baseAddress, input.count) == 1
          && EVP_DigestFinal_ex(hashing, &digest, nil) == 1
          && EVP_PKEY_verify(context, signed.signature, signed.signature.count, digest, digest.count) == 1
      }
      guard isGood else { throw BenchmarkError("a signature of the simulator is not good") }
    }
  }

  /// A JWS and those nested in its payload's `data`.
  private static func tokens(in jws: [UInt8]) throws -> [[UInt8]] {
    let segments = jws.split(separator: UInt8(ascii: "."))
    guard segments.count == 3, let payload = Base64.url.decode(Array(segments[1])),
      let data = try JSONReader.read(payload).object?["data"]?.object
    else { throw BenchmarkError("not a notification with data") }
    let nested = ["signedTransactionInfo", "signedRenewalInfo"].compactMap { data[$0]?.string }
    return [jws] + nested.map { Array($0.utf8) }
  }

  /// SEQUENCE { INTEGER r, INTEGER s }, as OpenSSL takes it.
  private static func der(_ raw: [UInt8]) -> [UInt8] {
    let integers = [raw.prefix(32), raw.suffix(32)].flatMap { number -> [UInt8] in
      let digits = Array(number.drop { $0 == 0 })
      let signed = (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits
      return [0x02, UInt8(signed.count)] + signed
    }
    return [0x30, UInt8(integers.count)] + integers
  }
}

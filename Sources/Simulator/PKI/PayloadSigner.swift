package import JSON
package import Signing

/// A signer of many payloads that encodes the header once.
package struct PayloadSigner: Sendable {
  private let header: [UInt8]
  private let key: SigningKey

  package init(_ pki: ApplePKI) throws(CertificateError) {
    header = Base64.url.encode(pki.header.encoded()) + [UInt8(ascii: ".")]
    key = try pki.signingKey()
  }

  /// Creates the JWS of exactly these bytes.
  package func sign(payload: [UInt8]) throws(CertificateError) -> [UInt8] {
    let input = header + Base64.url.encode(payload)
    return input + [UInt8(ascii: ".")] + Base64.url.encode(try key.signature(of: input).bytes)
  }

  package func sign(_ payload: JSONObject) throws(CertificateError) -> [UInt8] { try sign(payload: payload.encoded()) }

  package func nested(_ payload: JSONObject) throws(CertificateError) -> JSONValue {
    .string(String(decoding: try sign(payload), as: UTF8.self))
  }
}

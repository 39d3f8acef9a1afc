package import JSON
package import Signing

extension ApplePKI {
  /// The header that Apple writes: algorithm and the three certificates.
  package var header: JSONObject {
    [
      "alg": "ES256",
      "x5c": .array(certificates.map { .string(String(decoding: Base64.standard.encode($0), as: UTF8.self)) }),
    ]
  }

  /// The JWS of exactly these bytes of a payload.
  package func sign(payload: [UInt8]) throws(CertificateError) -> [UInt8] {
    try JWS.sign(headerBytes: header.encoded(), payloadBytes: payload, with: signingKey())
  }

  package func sign(_ payload: JSONObject) throws(CertificateError) -> [UInt8] { try sign(payload: payload.encoded()) }
}

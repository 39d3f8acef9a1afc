package import JSON
package import Signing

extension ApplePKI {
  /// Apple's JWS header: algorithm and three certificates.
  package var header: JSONObject {
    [
      "alg": "ES256",
      "x5c": .array(certificates.map { .string(String(decoding: Base64.standard.encode($0), as: UTF8.self)) }),
    ]
  }

  /// Creates the JWS of exactly these payload bytes.
  package func sign(payload: [UInt8]) throws(CertificateError) -> [UInt8] {
    try JWS.sign(headerBytes: header.encoded(), payloadBytes: payload, with: signingKey())
  }

  package func sign(_ payload: JSONObject) throws(CertificateError) -> [UInt8] { try sign(payload: payload.encoded()) }
}

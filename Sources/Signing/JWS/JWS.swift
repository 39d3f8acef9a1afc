public import JSON

/// Creates compact JWS: three segments of base64url, signed with ES256.
public enum JWS {
  /// Returns the token of `header` and `payload`; `alg` is always `ES256`.
  public static func sign(header: JSONObject, payload: JSONObject, with key: SigningKey) throws(CertificateError)
    -> [UInt8]
  {
    var header = header
    header["alg"] = "ES256"
    return try sign(headerBytes: header.encoded(), payloadBytes: payload.encoded(), with: key)
  }

  /// Returns the token of exactly these bytes; the simulator's faults need false headers.
  package static func sign(headerBytes: [UInt8], payloadBytes: [UInt8], with key: SigningKey) throws(CertificateError)
    -> [UInt8]
  {
    let input = Base64.url.encode(headerBytes) + [UInt8(ascii: ".")] + Base64.url.encode(payloadBytes)
    let signature = try key.signature(of: input)
    return input + [UInt8(ascii: ".")] + Base64.url.encode(signature.bytes)
  }
}

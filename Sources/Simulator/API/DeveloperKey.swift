import JSON
package import Signing
package import Time

/// The In-App Purchase key of a developer's account, which signs and recognizes the tokens of requests.
///
/// Apple: "Generating JSON Web Tokens for API requests".
package struct DeveloperKey: Sendable {
  package let issuerID: String
  package let keyID: String
  package let signingKey: SigningKey

  package init(issuerID: String, keyID: String, signingKey: SigningKey) {
    self.issuerID = issuerID
    self.keyID = keyID
    self.signingKey = signingKey
  }

  package static let longestLife = Interval.minutes(60)
  private static let audience = "appstoreconnect-v1"
  private static let limit = 8 << 10
  /// The tolerance for a client's clock that is ahead.
  private static let skew = Interval.seconds(60)

  /// The reason for a 401 response, which Apple does not send.
  package enum Refusal: String, Error, Sendable, CaseIterable {
    case missing, malformed, algorithm, key, signature, issuer, audience, bundle, notYetValid, expired, tooLong
  }

  package func token(
    for bundleID: String, at now: Timestamp, life: Interval = .minutes(5)
  ) throws(CertificateError) -> String {
    let jws = try JWS.sign(
      header: ["alg": "ES256", "kid": .string(keyID), "typ": "JWT"],
      payload: [
        "iss": .string(issuerID), "iat": .integer(now.wholeSeconds), "exp": .integer((now + life).wholeSeconds),
        "aud": .string(Self.audience), "bid": .string(bundleID),
      ], with: signingKey)
    return String(decoding: jws, as: UTF8.self)
  }

  package func bundleID(authorized field: String?, at now: Timestamp) throws(Refusal) -> String {
    guard let field, field.hasPrefix("Bearer ") else { throw .missing }
    let claims = try claims(in: Array(field.utf8.dropFirst("Bearer ".utf8.count)))
    guard claims["iss"]?.string == issuerID else { throw .issuer }
    guard claims["aud"]?.string == Self.audience else { throw .audience }
    guard let bundleID = claims["bid"]?.string else { throw .bundle }
    // Apple's documentation requires iat; Apple's own library for Python omits it.
    let from = claims["iat"] ?? .integer(now.wholeSeconds)
    guard let issued = Self.instant(from), let expires = Self.instant(claims["exp"]) else { throw .malformed }
    guard issued <= now + Self.skew else { throw .notYetValid }
    guard expires > now else { throw .expired }
    guard expires - issued <= Self.longestLife else { throw .tooLong }
    return bundleID
  }

  private func claims(in token: [UInt8]) throws(Refusal) -> JSONObject {
    guard let parts = try? CompactJWS(token, limit: Self.limit),
      let header = Self.object(token, parts.header), let claims = Self.object(token, parts.payload),
      let bytes = Base64.url.decode(Array(token[parts.signature]))
    else { throw .malformed }
    guard header["alg"] == "ES256" else { throw .algorithm }
    guard header["kid"]?.string == keyID else { throw .key }
    guard let signature = RawSignature(bytes: bytes), let key = try? signingKey.privateKey.publicKey(),
      key.verifies(signature, of: Digest.sha256(Array(token[..<parts.payload.upperBound])))
    else { throw .signature }
    return claims
  }

  /// Parses seconds since 1970.
  private static func instant(_ value: JSONValue?) -> Timestamp? {
    guard let seconds = value?.integer, (0...10_000_000_000).contains(seconds) else { return nil }
    return Timestamp(seconds * 1_000)
  }

  private static func object(_ token: [UInt8], _ segment: Range<Int>) -> JSONObject? {
    Base64.url.decode(Array(token[segment])).flatMap { try? JSONReader.read($0) }?.object
  }
}

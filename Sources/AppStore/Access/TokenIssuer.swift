import JSON
package import Signing
import Synchronization
package import Time

/// Signs the tokens that calls carry, and keeps each until shortly before its end.
///
/// Apple: Generating JSON Web Tokens for API requests; a token may be valid for an hour at most.
package final class TokenIssuer: Sendable {
  private struct Owner: Hashable {
    let issuerID: String, keyID: String, bundleID: String, key: Digest

    init(_ credentials: AppCredentials) {
      issuerID = credentials.key.issuerID
      keyID = credentials.key.keyID
      bundleID = credentials.bundleID
      key = credentials.key.digest
    }
  }

  private struct Token {
    let text: String
    let issuedAt: Timestamp
  }

  private static let audience = "appstoreconnect-v1"
  /// From `iat` to `exp`.
  private static let lifetime = Interval.minutes(20)
  /// A token is used until so long after it was made: enough is left for the slowest call and a clock that is behind.
  private static let usedFor = Interval.minutes(14)
  /// `iat` says so much earlier, for a clock that is ahead of Apple's.
  private static let backdatedBy = Interval.seconds(60)
  /// How far a clock may be ahead of Apple's for a token to be valid.
  static let mayBeAhead = backdatedBy
  /// How far it may be behind when the token has just been made.
  static let mayBeBehind = Interval.milliseconds(lifetime.milliseconds - backdatedBy.milliseconds)
  /// More apps than anybody has; then all is signed anew.
  private static let capacity = 4_096

  private let tokens = Mutex<[Owner: Token]>([:])

  package init() {}

  /// The token of this app, at most 14 minutes old.
  package func token(for credentials: AppCredentials, now: Timestamp) throws(CertificateError) -> String {
    let owner = Owner(credentials)
    let kept = tokens.withLock { $0[owner] }
    // A clock that was set back makes what it issued before a token of the future.
    if let kept, kept.issuedAt <= now, now - kept.issuedAt < Self.usedFor { return kept.text }
    let token = Token(text: try Self.sign(credentials, now: now), issuedAt: now)
    tokens.withLock { tokens in
      if tokens.count >= Self.capacity { tokens = [:] }
      tokens[owner] = token
    }
    return token.text
  }

  /// Has the next token signed anew: Apple did not accept this one.
  func forget(_ credentials: AppCredentials) { tokens.withLock { $0[Owner(credentials)] = nil } }

  private static func sign(_ credentials: AppCredentials, now: Timestamp) throws(CertificateError) -> String {
    let issuedAt = (now - backdatedBy).wholeSeconds
    let jws = try JWS.sign(
      header: ["alg": "ES256", "kid": .string(credentials.key.keyID), "typ": "JWT"],
      payload: [
        "iss": .string(credentials.key.issuerID), "iat": .integer(issuedAt),
        "exp": .integer(issuedAt + lifetime.milliseconds / 1_000), "aud": .string(audience),
        "bid": .string(credentials.bundleID),
      ], with: credentials.key.signingKey)
    return String(decoding: jws, as: UTF8.self)
  }
}

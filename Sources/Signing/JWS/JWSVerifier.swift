import JSON
public import Time

/// A payload with verified signature, certificates and claims: the only proof of it.
///
/// Only the verifier in this file creates one. `decoded` keeps the proof.
public struct Verified<Payload: Sendable>: Sendable {
  public let payload: Payload
  /// The payload's own date: signedDate, or receiptCreationDate of an app transaction.
  public let signedAt: Timestamp?
  /// The environment whose roots verified it.
  ///
  /// `nil` if neither the payload (Apple's transactions of 2021) nor the caller names one; its root is then trusted for
  /// Production.
  public let environment: AppStoreEnvironment?
  public let trust: Trust

  fileprivate init(payload: Payload, signedAt: Timestamp?, environment: AppStoreEnvironment?, trust: Trust) {
    self.payload = payload
    self.signedAt = signedAt
    self.environment = environment
    self.trust = trust
  }

  /// Returns the same proof for the result of `decode`.
  public func decoded<Decoded: Sendable, Failure: Error>(
    _ decode: (Payload) throws(Failure) -> Decoded
  ) throws(Failure) -> Verified<Decoded> {
    Verified<Decoded>(payload: try decode(payload), signedAt: signedAt, environment: environment, trust: trust)
  }
}

/// The basis of a payload's trust.
public enum Trust: Hashable, Sendable {
  /// A signature by `leaf`, whose chain ends in `root`.
  case chain(root: Digest, leaf: Digest, leafSerialNumber: String)
  /// No trust: data of Xcode or LocalTesting, which the caller allowed.
  ///
  /// Never Production, never Sandbox.
  case unsignedTestData
}

/// Verifies format, certificates and signature of one JWS.
///
/// The caller supplies the checks of claims.
final class JWSVerifier: Sendable {
  /// The claims that decide how to verify the payload.
  struct Claims {
    /// The environment whose roots count; `nil` counts as Production, the strictest.
    let environment: AppStoreEnvironment?
    let signedAt: Timestamp?
    let allowsUnsignedTestData: Bool
  }

  private let stores: [AppStoreEnvironment: TrustStore]
  private let limit: Int
  private let headers: HeaderCache
  private let chains: ChainCache
  private let tables: KeyTables
  private let revocations: RevocationCache?

  init(roots: TrustedRoots, limit: Int, cacheCapacity: Int, tables: KeyTables, revocations: RevocationCache?) {
    var stores: [Set<RootCertificate>: TrustStore] = [:]
    var byEnvironment: [AppStoreEnvironment: TrustStore] = [:]
    for environment in AppStoreEnvironment.allCases where !roots.roots(for: environment).isEmpty {
      let trusted = Set(roots.roots(for: environment))
      let store = stores[trusted] ?? TrustStore(Array(trusted), number: stores.count)
      stores[trusted] = store
      byEnvironment[environment] = store
    }
    self.stores = byEnvironment
    self.limit = limit
    self.revocations = revocations
    headers = HeaderCache(capacity: cacheCapacity)
    chains = ChainCache(capacity: cacheCapacity)
    self.tables = tables
  }

  /// The sizes of the caches and the number of chains built, for tests and metrics.
  var counts: (headers: Int, chains: Int, chainsBuilt: Int) {
    let chains = chains.counts
    return (headers.count, chains.kept, chains.built)
  }

  /// Returns the payload of `bytes`, verified at its own date, or at `now` without one.
  ///
  /// `claims` reads the unverified payload; the result selects the roots and is not trusted.
  func verify(
    _ bytes: [UInt8], now: Timestamp, claims: (JSONObject) throws(VerificationError) -> Claims
  ) throws(VerificationError) -> Verified<JSONObject> {
    let jws = try CompactJWS(bytes, limit: limit)
    let known = headers.header(jws.header, of: bytes)
    let header = known == nil ? try CompactJWS.decode(jws.header, called: "header", of: bytes) : []
    let body = try CompactJWS.decode(jws.payload, called: "payload", of: bytes)
    let signature = try CompactJWS.decode(jws.signature, called: "signature", of: bytes)

    var certificates: [JSONValue] = []
    if known == nil {
      let headerClaims = try JOSEHeader.Claims(header)
      do throws(VerificationError) { certificates = try headerClaims.chain() } catch {
        // Xcode signs with its own certificate, LocalTesting perhaps with none.
        guard let payload = try? SignedJSON.object(body, called: "payload"), let claims = try? claims(payload),
          isTestData(claims)
        else { throw error }
        return try unsigned(payload, claims)
      }
    }
    let payload = try SignedJSON.object(body, called: "payload")
    let claims = try claims(payload)
    guard let store = stores[claims.environment ?? .production] else {
      guard isTestData(claims) else {
        throw VerificationError(.unknownRoot, "no root is trusted for \(claims.environment?.rawValue ?? "Production")")
      }
      return try unsigned(payload, claims)
    }
    let parsed = if let known { known.header } else { try JOSEHeader(chain: certificates) }
    let key = ChainCache.Key(
      leaf: parsed.leaf.fingerprint, intermediate: parsed.intermediate.fingerprint, store: store.number)
    let chain = try chains.chain(for: key) { () throws(VerificationError) in
      try store.chain(leaf: parsed.leaf, intermediate: parsed.intermediate)
    }
    try chain.checkValidity(at: claims.signedAt ?? now)

    guard let signature = RawSignature(bytes: signature) else {
      let isDER = signature.first == 0x30 && signature.count > RawSignature.count ? ", DER-encoded it seems" : ""
      throw VerificationError(.malformedSignature, "\(signature.count) bytes\(isDER); r and s are 64")
    }
    let candidate = known ?? KnownHeader(parsed, segment: jws.header, of: bytes)
    let digest = candidate.prefix.digest(appending: bytes[jws.payload])
    guard tables.verifies(signature, of: digest, by: chain.key, leaf: chain.leafFingerprint) else {
      throw VerificationError(.badSignature, "not signed by the leaf's key, or changed since")
    }
    if known == nil { headers.insert(candidate, segment: jws.header, of: bytes) }
    try revocations?.check(chain.links, signedAt: claims.signedAt ?? now, now: now)
    return Verified(
      payload: payload, signedAt: claims.signedAt, environment: claims.environment,
      trust: .chain(
        root: chain.rootFingerprint, leaf: chain.leafFingerprint, leafSerialNumber: chain.leafSerialNumber))
  }

  /// Whether this is data that only the developer's own machine signed.
  private func isTestData(_ claims: Claims) -> Bool {
    claims.environment.map { !$0.isSignedByApple } ?? false
  }

  private func unsigned(_ payload: JSONObject, _ claims: Claims) throws(VerificationError) -> Verified<JSONObject> {
    guard claims.allowsUnsignedTestData, isTestData(claims) else {
      let environment = claims.environment?.rawValue ?? "an unknown environment"
      throw VerificationError(.unsignedTestData, "data of \(environment) has no signature to trust")
    }
    return Verified(
      payload: payload, signedAt: claims.signedAt, environment: claims.environment, trust: .unsignedTestData)
  }
}

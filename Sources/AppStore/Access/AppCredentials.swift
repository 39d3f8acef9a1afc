public import Signing

/// A key of the App Store Server API; one may serve every app of the account.
public struct APIKey: Sendable, Equatable {
  /// From App Store Connect, Users and Access, Integrations, In-App Purchase.
  public let issuerID: String
  public let keyID: String
  let signingKey: SigningKey
  /// Tells a key from one that replaced it under the same ids.
  let digest: Digest

  /// `pem` is the `.p8` file as it was downloaded.
  public init(issuerID: String, keyID: String, pem: [UInt8]) throws(CertificateError) {
    self.issuerID = issuerID
    self.keyID = keyID
    signingKey = try SigningKey(pem: pem)
    digest = .sha256(pem)
  }

  public static func == (a: Self, b: Self) -> Bool {
    (a.issuerID, a.keyID, a.digest) == (b.issuerID, b.keyID, b.digest)
  }
}

/// As whom Apple is asked: an app, and a key of its account.
public struct AppCredentials: Sendable {
  public let bundleID: String
  public let key: APIKey

  public init(bundleID: String, key: APIKey) {
    self.bundleID = bundleID
    self.key = key
  }
}

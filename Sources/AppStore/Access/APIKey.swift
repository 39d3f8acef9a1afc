package import Signing

/// A key of the App Store Server API; one may serve every app of the account.
package struct APIKey: Sendable {
  /// From App Store Connect, Users and Access, Integrations, In-App Purchase.
  package let issuerID: String
  package let keyID: String
  let signingKey: SigningKey
  /// Tells a key from one that replaced it under the same ids.
  let digest: Digest

  /// `pem` is the `.p8` file as it was downloaded.
  package init(issuerID: String, keyID: String, pem: [UInt8]) throws(CertificateError) {
    self.issuerID = issuerID
    self.keyID = keyID
    signingKey = try SigningKey(pem: pem)
    digest = .sha256(pem)
  }
}

/// As whom Apple is asked: an app, and a key of its account.
package struct AppCredentials: Sendable {
  package let bundleID: String
  package let key: APIKey

  package init(bundleID: String, key: APIKey) {
    self.bundleID = bundleID
    self.key = key
  }
}

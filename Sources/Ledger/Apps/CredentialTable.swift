package import Database
package import Signing
package import Time

/// `credentials`: an app's keys and shared secrets, sealed; two of a kind may be valid at once.
package enum CredentialTable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A `.p8` key of the App Store Server API, with its issuer.
    case apiKey
    /// The app's shared secret of verifyReceipt and Notifications V1.
    case sharedSecret
  }

  package struct Entry: Sendable {
    package let kind: Kind
    /// The key id; for a shared secret a name that says nothing about it.
    package let name: String
    package let issuer: String
    package let createdAt: Milliseconds
  }

  package static func put(
    _ secret: [UInt8], kind: Kind, name: String, issuer: String, of app: App, sealedWith keys: Keyring,
    at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    let sealed = keys.seal(secret, context: context(app, kind, name)).bytes
    _ = try session.execute(
      """
      INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
      VALUES (\(app.id.number), \(kind.rawValue), \(name), \(issuer), \(sealed), \(now))
      ON DUPLICATE KEY UPDATE issuer = VALUES(issuer), sealed = VALUES(sealed), retired_at = NULL
      """)
  }

  /// Whether anything is sealed here, so that its key must not be lost.
  package static func hasAny(in session: borrowing Session) throws(DatabaseError) -> Bool {
    try !session.query("SELECT 1 FROM credentials LIMIT 1").isEmpty
  }

  /// The credentials that are in use, without their secrets.
  package static func list(of app: App, in session: borrowing Session) throws(DatabaseError) -> [Entry] {
    var entries: [Entry] = []
    for row in try session.query(
      """
      SELECT kind, name, issuer, created_at FROM credentials
      WHERE app = \(app.id.number) AND retired_at IS NULL ORDER BY kind, created_at
      """)
    {
      guard let kind = Kind(rawValue: try row.text("kind")) else { continue }
      entries.append(
        Entry(
          kind: kind, name: try row.text("name"), issuer: try row.text("issuer"),
          createdAt: try row.milliseconds("created_at")))
    }
    return entries
  }

  /// Where the secret stands, so that a sealed one cannot be moved to another app or name.
  private static func context(_ app: App, _ kind: Kind, _ name: String) -> String {
    "credentials/\(app.bundleID)/\(kind.rawValue)/\(name)"
  }
}

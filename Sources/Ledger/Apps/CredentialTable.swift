package import Database
package import Signing
package import Time

/// `credentials`: an app's keys and shared secrets, sealed.
///
/// Two of a kind may be valid at the same time.
package enum CredentialTable {
  package enum Kind: String, Sendable, CaseIterable {
    /// A `.p8` key of the App Store Server API, with its issuer.
    case apiKey
    /// The app's shared secret for verifyReceipt and Notifications V1.
    case sharedSecret
    /// The token by which Switchyard authenticates to the app's back end when it asks about consumption.
    case callbackToken
  }

  package struct Record: Sendable {
    package let kind: Kind
    /// The key ID.
    ///
    /// For a shared secret, a name that reveals nothing about it.
    package let name: String
    package let issuer: String
    package let createdAt: Timestamp
  }

  package static func put(
    _ secret: [UInt8], kind: Kind, name: String, issuer: String, of app: App, sealedWith keys: Keyring,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let sealed = keys.seal(secret, context: context(app.bundleID, kind, name)).bytes
    _ = try session.execute(
      """
      INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
      VALUES (\(app.id.number), \(kind.rawValue), \(name), \(issuer), \(sealed), \(now))
      ON DUPLICATE KEY UPDATE issuer = VALUES(issuer), sealed = VALUES(sealed),
        created_at = VALUES(created_at), retired_at = NULL
      """)
  }

  package struct Lost: Hashable, Sendable {
    package let bundleID: String
    package let kind: Kind
    package let name: String
  }

  package static func unopened(
    with keys: Keyring, in session: borrowing Session
  ) throws(DatabaseError) -> [Lost] {
    let names = Dictionary(try AppTable.all(in: session).map { ($0.id, $0.bundleID) }) { first, _ in first }
    var lost: [Lost] = []
    for kind in Kind.allCases {
      lost += try open(kind, with: keys, retired: true, in: session).unopened.map {
        Lost(bundleID: names[$0.app] ?? "", kind: kind, name: $0.name)
      }
    }
    return lost
  }

  package static func delete(_ credential: Lost, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute(
      """
      DELETE c FROM credentials c JOIN apps a ON a.id = c.app WHERE a.bundle_id = \(credential.bundleID)
        AND c.kind = \(credential.kind.rawValue) AND c.name = \(credential.name)
      """)
  }

  /// Whether the database has any credential, so that a command needs the master key.
  package static func hasAny(in session: borrowing Session) throws(DatabaseError) -> Bool {
    try !session.query("SELECT 1 FROM credentials LIMIT 1").isEmpty
  }

  /// Whether the app has a credential of this kind in use, even one that does not open here.
  package static func has(_ kind: Kind, of app: App, in session: borrowing Session) throws(DatabaseError) -> Bool {
    try !session.query(
      """
      SELECT 1 FROM credentials WHERE app = \(app.id.number) AND kind = \(kind.rawValue) AND retired_at IS NULL LIMIT 1
      """
    ).isEmpty
  }

  package static func apps(with kind: Kind, in session: borrowing Session) throws(DatabaseError) -> Set<App.ID> {
    var apps: Set<App.ID> = []
    for row in try session.query(
      "SELECT DISTINCT app FROM credentials WHERE kind = \(kind.rawValue) AND retired_at IS NULL")
    {
      apps.insert(App.ID(try row.int("app")))
    }
    return apps
  }

  package static func list(of app: App, in session: borrowing Session) throws(DatabaseError) -> [Record] {
    var entries: [Record] = []
    for row in try session.query(
      """
      SELECT kind, name, issuer, created_at FROM credentials
      WHERE app = \(app.id.number) AND retired_at IS NULL ORDER BY kind, created_at
      """)
    {
      guard let kind = Kind(rawValue: try row.text("kind")) else { continue }
      entries.append(
        Record(
          kind: kind, name: try row.text("name"), issuer: try row.text("issuer"),
          createdAt: try row.milliseconds("created_at")))
    }
    return entries
  }

  package struct Opened: Sendable {
    package let app: App.ID
    package let name: String
    package let issuer: String
    package let secret: [UInt8]
    /// `nil` if the credential is valid.
    package let retiredAt: Timestamp?
  }

  package struct Unopened: Hashable, Sendable {
    package let app: App.ID
    package let name: String
    package let reason: String
    /// Whether the credential must not be sent.
    package let isRetired: Bool
    /// Whether the credential was sealed under an unavailable master key.
    ///
    /// Otherwise it is damaged.
    package let isOfAnotherKey: Bool

    package init(
      app: App.ID, name: String, reason: String, isRetired: Bool = false, isOfAnotherKey: Bool = false
    ) {
      self.isOfAnotherKey = isOfAnotherKey
      self.app = app
      self.name = name
      self.reason = reason
      self.isRetired = isRetired
    }
  }

  /// Returns the credentials of all apps in service that open, and those that do not: one damaged secret must not
  /// disable the others.
  package static func open(
    _ kind: Kind, with keys: Keyring, retired: Bool = false, in session: borrowing Session
  ) throws(DatabaseError) -> (opened: [Opened], unopened: [Unopened]) {
    var (opened, unopened): ([Opened], [Unopened]) = ([], [])
    for row in try session.query(
      """
      SELECT c.app, c.name, c.issuer, c.sealed, c.retired_at, a.bundle_id FROM credentials c JOIN apps a ON a.id = c.app
      WHERE c.kind = \(kind.rawValue) AND a.removed_at IS NULL ORDER BY c.app, c.created_at, c.name
      """)
    {
      let retiredAt = try row.optionalMilliseconds("retired_at")
      if retiredAt != nil && !retired { continue }
      let (app, name) = (App.ID(try row.int("app")), try row.text("name"))
      let (sealed, issuer) = (try row.bytes("sealed"), try row.text("issuer"))
      let place = context(try row.text("bundle_id"), kind, name)
      do throws(SealingError) {
        opened.append(
          Opened(
            app: app, name: name, issuer: issuer, secret: try keys.open(try Sealed(sealed), context: place),
            retiredAt: retiredAt))
      } catch {
        unopened.append(
          Unopened(
            app: app, name: name, reason: "\(error)", isRetired: retiredAt != nil,
            isOfAnotherKey: error.code == .wrongKey))
      }
    }
    return (opened, unopened)
  }

  /// Invalidates a credential.
  ///
  /// Returns false if there is no valid one of this name. The sealed secret stays, so that it can be redacted.
  package static func retire(
    _ name: String, kind: Kind, of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try session.execute(
      """
      UPDATE credentials SET retired_at = \(now)
      WHERE app = \(app.id.number) AND kind = \(kind.rawValue) AND name = \(name) AND retired_at IS NULL
      """
    ).affectedRows > 0
  }

  /// The context of the seal, so that a sealed secret cannot be moved to another app or name.
  private static func context(_ bundleID: String, _ kind: Kind, _ name: String) -> String {
    "credentials/\(bundleID)/\(kind.rawValue)/\(name)"
  }
}

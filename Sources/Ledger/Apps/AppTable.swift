package import Database
import Purchases
import Rollout
package import Signing
package import Time

/// `apps`, `app_tokens`, `credentials` and `flags`.
package enum AppTable {
  package static func all(includingRemoved: Bool = false, in session: borrowing Session) throws(DatabaseError) -> [App]
  {
    var apps: [App] = []
    for row in try session.query("SELECT id, bundle_id, app_apple_id, removed_at FROM apps ORDER BY bundle_id") {
      let isRemoved = try row.optionalInt64("removed_at") != nil
      if isRemoved && !includingRemoved { continue }
      apps.append(
        App(
          id: App.ID(try row.int("id")), bundleID: try row.text("bundle_id"),
          appAppleID: try row.optionalInt64("app_apple_id")))
    }
    return apps
  }

  /// Returns the apps, with the valid shared secrets only if the master keys are given.
  package static func directory(
    with keys: Keyring? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> AppRegistrySnapshot {
    var tokens: [Digest: App.ID] = [:]
    for row in try session.query("SELECT digest, app FROM app_tokens WHERE revoked_at IS NULL") {
      if let digest = Digest(bytes: try row.bytes("digest")) { tokens[digest] = App.ID(try row.int("app")) }
    }
    var secrets: [App.ID: [[UInt8]]] = [:]
    var searched: [[UInt8]] = []
    var unopened: [CredentialTable.Unopened] = []
    if let keys {
      let found = try CredentialTable.open(.sharedSecret, with: keys, retired: true, in: session)
      unopened = found.unopened
      for secret in found.opened {
        searched.append(secret.secret)
        if secret.retiredAt == nil { secrets[secret.app, default: []].append(secret.secret) }
      }
    }
    let (apps, destinations) = (try all(in: session), try DestinationTable.all(in: session))
    return AppRegistrySnapshot(
      apps: apps, tokens: tokens, flags: try StageTable.all(in: session), destinations: destinations,
      secrets: SharedSecrets(secrets), secretFilter: SecretFilter(searched, sparing: apps.map(\.bundleID)),
      unopened: unopened,
      gaps: MissingSetup.all(
        of: apps, forwarding: destinations,
        withSecret: try CredentialTable.apps(with: .sharedSecret, in: session),
        withKey: try CredentialTable.apps(with: .apiKey, in: session)),
      denyingUnproven: try UnprovenForwardingTable.denying(in: session),
      answerReadings: try PolicyTable.answerReadings(in: session),
      answerClients: try PolicyTable.answerClients(in: session))
  }

  package static func find(_ bundleID: String, in session: borrowing Session) throws(DatabaseError) -> App? {
    try all(in: session).first { $0.bundleID == bundleID }
  }

  /// Registers an app, or restores a removed one with all its data.
  ///
  /// The app begins in `record`.
  package static func add(
    bundleID: String, appAppleID: Int64?, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> App {
    _ = try session.execute(
      """
      INSERT INTO apps (bundle_id, app_apple_id, added_at) VALUES (\(bundleID), \(appAppleID.sqlValue), \(now))
      ON DUPLICATE KEY UPDATE removed_at = NULL, app_apple_id = COALESCE(VALUES(app_apple_id), app_apple_id)
      """)
    guard let app = try find(bundleID, in: session) else {
      throw DatabaseError(.column, "the app \(bundleID) was not registered")
    }
    for environment in [Environment.production, .sandbox] {
      _ = try session.execute(
        """
        INSERT INTO flags (app, environment, stage, epoch, changed_at)
        VALUES (\(app.id.number), \(environment.code), \(Stage.record.rawValue), 1, \(now))
        ON DUPLICATE KEY UPDATE app = VALUES(app)
        """)
      _ = try session.execute(
        """
        INSERT INTO app_recording (app, environment, epoch) VALUES (\(app.id.number), \(environment.code), 1)
        ON DUPLICATE KEY UPDATE app = VALUES(app)
        """)
    }
    return app
  }

  /// Removes an app from service.
  ///
  /// The data of its purchases stays.
  package static func remove(_ app: App, at now: Timestamp, in session: borrowing Session) throws(DatabaseError) {
    _ = try session.execute("UPDATE apps SET removed_at = \(now) WHERE id = \(app.id.number)")
    _ = try session.execute(
      "UPDATE app_tokens SET revoked_at = \(now) WHERE app = \(app.id.number) AND revoked_at IS NULL")
  }

  /// Returns the app's stages, Production first.
  package static func flags(of app: App, in session: borrowing Session) throws(DatabaseError) -> [StageRecord] {
    try StageTable.all(in: session).filter { $0.key.app == app.id }.sorted { $0.key < $1.key }.map(\.value)
  }
}

package import Database
package import Purchases
import Rollout
package import Time

/// `app_policies` and `access_holds`: what an operator decided for an app; without a row as the careful default says.
package enum PolicyTable {
  /// Whether V1 data alone may change entitlements while the app is in `record`; `deny` unless it was set.
  package static func legacyEntitlements(
    of app: App, in session: borrowing Session
  ) throws(DatabaseError) -> LegacyEntitlements {
    let row = try session.query("SELECT legacy_entitlements FROM app_policies WHERE app = \(app.id.number)").first
    guard let row else { return .deny }
    let word = try row.text("legacy_entitlements")
    guard let policy = LegacyEntitlements(rawValue: word) else {
      throw DatabaseError(.column, "a policy this build does not know: \(word)")
    }
    return policy
  }

  /// The policy that counts in `environment` now: beyond `record` nothing is changed by V1 data alone.
  package static func legacyEntitlements(
    of app: App, environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> LegacyEntitlements {
    let flag = try AppTable.flags(of: app, in: session).first { $0.environment == environment }
    return flag?.stage == .record ? try legacyEntitlements(of: app, in: session) : .deny
  }

  package static func set(
    legacyEntitlements policy: LegacyEntitlements, of app: App, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO app_policies (app, legacy_entitlements, changed_at) VALUES (\(app.id.number), \(policy.rawValue), \(now))
      ON DUPLICATE KEY UPDATE legacy_entitlements = VALUES(legacy_entitlements), changed_at = VALUES(changed_at)
      """)
  }

  /// For how long access may outlast its signed end while Apple is being asked.
  package static func accessHold(of app: App, in session: borrowing Session) throws(DatabaseError) -> AccessHold {
    let row = try session.query("SELECT hours FROM access_holds WHERE app = \(app.id.number)").first
    return try row.map { row throws(DatabaseError) in AccessHold(hours: try row.int("hours")) } ?? .standard
  }

  package static func set(
    accessHold hold: AccessHold, of app: App, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO access_holds (app, hours, changed_at) VALUES (\(app.id.number), \(hold.hours), \(now))
      ON DUPLICATE KEY UPDATE hours = VALUES(hours), changed_at = VALUES(changed_at)
      """)
  }
}

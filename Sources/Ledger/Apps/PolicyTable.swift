package import Database
package import Purchases
package import Time

/// `access_holds`: how long access of an app's customers may be held.
///
/// Without a row the default applies.
package enum PolicyTable {
  /// Returns how long access may outlast its signed end while Switchyard asks Apple.
  package static func accessHold(of app: App, in session: borrowing Session) throws(DatabaseError) -> AccessHold {
    let row = try session.query("SELECT hours FROM access_holds WHERE app = \(app.id.number)").first
    return try row.map { row throws(DatabaseError) in AccessHold(hours: try row.int("hours")) } ?? .standard
  }

  package static func set(
    accessHold hold: AccessHold, of app: App, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    _ = try session.execute(
      """
      INSERT INTO access_holds (app, hours, changed_at) VALUES (\(app.id.number), \(hold.hours), \(now))
      ON DUPLICATE KEY UPDATE hours = VALUES(hours), changed_at = VALUES(changed_at)
      """)
  }
}

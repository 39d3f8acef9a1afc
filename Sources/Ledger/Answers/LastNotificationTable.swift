import Database
import Purchases
import Time

/// The last notification that Apple sent on its own initiative, by generation, app and environment.
///
/// A separate row, since strangers' V1 bodies could hide Apple's last one. A commit advances it only periodically, so
/// that commits do not wait for each other.
enum LastNotificationTable {
  struct Key: Hashable, Sendable {
    let scope: AppScope
    let generation: NotificationHealth.Generation
  }

  static let every = Interval.minutes(1)

  private static let insert = BulkInsert(
    into: "INSERT INTO heard (app, environment, generation, heard_at) VALUES",
    then: "ON DUPLICATE KEY UPDATE heard_at = GREATEST(heard_at, VALUES(heard_at))")

  static func note(_ heard: [Key: Timestamp], in session: borrowing Session) throws(DatabaseError) {
    guard !heard.isEmpty else { return }
    let rows: [[SQLValue]] = heard.map { key, at in
      [
        .integer(Int64(key.scope.app.number)), .integer(Int64(key.scope.environment.code)),
        .integer(Int64(key.generation.rawValue)), .integer(at.sinceEpoch),
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 3))
  }

  static func last(
    of scope: AppScope, in session: borrowing Session
  ) throws(DatabaseError) -> [NotificationHealth.Generation: Timestamp] {
    var last: [NotificationHealth.Generation: Timestamp] = [:]
    for row in try session.query(
      "SELECT generation, heard_at FROM heard WHERE \(in: scope)")
    {
      guard let generation = NotificationHealth.Generation(rawValue: try row.int("generation")) else { continue }
      last[generation] = try row.milliseconds("heard_at")
    }
    return last
  }
}

extension LedgerEntry {
  var heard: LastNotificationTable.Key? {
    guard case .accepted(let accepted) = content, message.kind == .notification else { return nil }
    return LastNotificationTable.Key(
      scope: AppScope(app: accepted.app, environment: accepted.findings.environment),
      generation: accepted.title.hasPrefix("V1 ") ? .v1 : .v2)
  }
}

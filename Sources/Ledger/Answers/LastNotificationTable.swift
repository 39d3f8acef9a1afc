import Database
import Purchases
import Time

/// `heard`: when the last notification of each generation came by itself, for each app in each environment.
///
/// A row of its own, since whoever has an app's shared secret can send any number of V1 bodies: the last of Apple's would have
/// to be searched for behind them. It is advanced by the commit of a message, once in a while only, so that commits do not
/// wait for each other's.
enum LastNotificationTable {
  struct Key: Hashable, Sendable {
    let scope: AppScope
    let generation: NotificationHealth.Generation
  }

  /// How far the row may lie behind.
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
  /// What is heard by it, once it is accepted for the first time: a notification that came by itself.
  var heard: LastNotificationTable.Key? {
    guard case .accepted(let accepted) = content, message.kind == .notification else { return nil }
    return LastNotificationTable.Key(
      scope: AppScope(app: accepted.app, environment: accepted.findings.environment),
      generation: accepted.title.hasPrefix("V1 ") ? .v1 : .v2)
  }
}

package import Database
import Purchases
package import Time

/// The completeness of one day: the expected and the received items.
package struct Completeness: Hashable, Sendable {
  /// The counted items, with their number in the table.
  package enum Measure: Int, Hashable, Sendable, CaseIterable {
    /// Notifications that were sent according to Apple's notification history.
    case notifications = 1
    /// Ends of periods with an expected renewal or a notification of its failure.
    ///
    /// The only measure of Notifications V1.
    case renewals = 2

    package var name: String { "\(self)" }
  }

  package var expected = 0
  /// Sent by Apple on its own initiative.
  package var arrived = 0
  /// Known only from Apple's history or a lookup.
  package var recovered = 0
  package var refused = 0

  package init(expected: Int = 0, arrived: Int = 0, recovered: Int = 0, refused: Int = 0) {
    self.expected = expected
    self.arrived = arrived
    self.recovered = recovered
    self.refused = refused
  }

  package mutating func add(_ other: Completeness) {
    expected += other.expected
    arrived += other.arrived
    recovered += other.recovered
    refused += other.refused
  }

  /// The items without any data.
  ///
  /// Refused ones are counted separately.
  package var missing: Int { max(0, expected - arrived - recovered - refused) }
}

/// `completeness`: by app, environment and day.
package enum CompletenessTable {
  package struct Row: Hashable, Sendable {
    package let scope: AppScope
    package let measure: Completeness.Measure
    /// The first millisecond of the day in UTC.
    package let day: Timestamp
    package let completeness: Completeness
    package let measuredAt: Timestamp
  }

  private static let upsert = BulkInsert(
    into: """
      INSERT INTO completeness (app, environment, measure, day, expected, arrived, recovered, refused, measured_at) VALUES
      """,
    then: """
      ON DUPLICATE KEY UPDATE expected = VALUES(expected), arrived = VALUES(arrived), recovered = VALUES(recovered),
        refused = VALUES(refused), measured_at = VALUES(measured_at)
      """)

  package static func put(
    _ days: [Timestamp: Completeness], _ measure: Completeness.Measure, of scope: AppScope, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let rows: [[SQLValue]] = days.map { day, counts in
      scope.columns + [.integer(Int64(measure.rawValue)), .integer(day.sinceEpoch)]
        + [counts.expected, counts.arrived, counts.recovered, counts.refused].map { .integer(Int64($0)) }
        + [.integer(now.sinceEpoch)]
    }
    _ = try session.insert(upsert, rows: rows.inKeyOrder(columns: 4))
  }

  /// Returns the days from `start` on, newest first, of one app on request.
  package static func read(
    from start: Timestamp, app: App.ID? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> [Row] {
    var select: SQL = """
      SELECT app, environment, measure, day, expected, arrived, recovered, refused, measured_at FROM completeness
      WHERE day >= \(start)
      """
    if let app { select += " AND app = \(app.number)" }
    var found: [Row] = []
    for row in try session.query(select + " ORDER BY app, environment, day DESC, measure") {
      guard let measure = Completeness.Measure(rawValue: try row.int("measure")) else { continue }
      found.append(
        Row(
          scope: AppScope(app: App.ID(try row.int("app")), environment: try Environment(code: row.int("environment"))),
          measure: measure, day: try row.milliseconds("day"),
          completeness: Completeness(
            expected: try row.int("expected"), arrived: try row.int("arrived"), recovered: try row.int("recovered"),
            refused: try row.int("refused")),
          measuredAt: try row.milliseconds("measured_at")))
    }
    return found
  }
}

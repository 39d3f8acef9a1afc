package import Database
package import Purchases
import Time

package struct MigrationCounts: Hashable, Sendable {
  package var rows = 0
  package var usable = 0
  package var duplicates = 0
  package var withoutPurchases = 0
  package var links = 0
  package var rejected: [String: Int] = [:]
  package var ids = 0
  package var settled = 0
  package var unknown = 0
  package var failed = 0

  package init() {}

  package var open: Int { ids - settled - unknown - failed }
  package var allRejected: Int { rejected.values.reduce(0, +) }

  package var balances: Bool {
    rows == usable + duplicates + withoutPurchases + allRejected && open >= 0 && links <= duplicates
  }

  mutating func add(_ count: Int, of outcome: MigrationOutcome) {
    switch outcome {
    case .usable: usable += count
    case .duplicate: duplicates += count
    case .withoutPurchases: withoutPurchases += count
    case .link: links += count
    case .rejected(let reason): rejected[reason, default: 0] += count
    case .id: ids += count
    case .settled: settled += count
    case .unknown: unknown += count
    case .failed: failed += count
    }
  }
}

package enum MigrationOutcome: Hashable, Sendable {
  case usable, duplicate, withoutPurchases, link
  case rejected(String)
  case id, settled, unknown, failed

  private static let rejection = "rejected:"

  var name: String {
    switch self {
    case .usable: "usable"
    case .duplicate: "duplicate"
    case .withoutPurchases: "withoutPurchases"
    case .link: "link"
    case .rejected(let reason): Self.rejection + reason.cut(to: 50)
    case .id: "id"
    case .settled: "id:settled"
    case .unknown: "id:unknown"
    case .failed: "id:failed"
    }
  }

  /// `nil` if a newer build wrote the name.
  init?(name: String) {
    let plain: [Self] = [.usable, .duplicate, .withoutPurchases, .link, .id, .settled, .unknown, .failed]
    if let outcome = plain.first(where: { $0.name == name }) {
      self = outcome
    } else if name.hasPrefix(Self.rejection) {
      self = .rejected(String(name.dropFirst(Self.rejection.count)))
    } else {
      return nil
    }
  }
}

/// `migration_accounts`: the outcomes of the rows and IDs of jobs.
package enum MigrationAccountTable {
  /// The app and environment of a count.
  ///
  /// `nil` if unknown.
  package struct CountScope: Hashable, Sendable {
    package let app: App.ID?
    package let environment: Environment?

    package init(app: App.ID?, environment: Environment?) { (self.app, self.environment) = (app, environment) }
  }

  private static let insert = BulkInsert(
    into: "INSERT INTO migration_accounts (job, part, app, environment, outcome, count) VALUES",
    then: "ON DUPLICATE KEY UPDATE count = count + VALUES(count)")

  static func add(
    _ counts: [CountScope: [MigrationOutcome: Int]], job: Int, part: Int, in session: borrowing Session
  ) throws(DatabaseError) {
    let rows: [[SQLValue]] = counts.flatMap { place, counts in
      counts.filter { $0.value != 0 }.map { outcome, count in
        [
          .integer(Int64(job)), .integer(Int64(part)), .integer(Int64(place.app?.number ?? 0)),
          .integer(Int64(place.environment?.code ?? 0)), .text(outcome.name), .integer(Int64(count)),
        ]
      }
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 5))
  }

  /// Returns a job's counts by app and environment.
  ///
  /// `rows` is only in the total. One statement, since two would see two moments.
  package static func read(
    _ job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> (all: MigrationCounts, byPlace: [CountScope: MigrationCounts]) {
    var (all, byPlace): (MigrationCounts, [CountScope: MigrationCounts]) = (MigrationCounts(), [:])
    for row in try session.query(
      """
      SELECT app, environment, outcome, CAST(SUM(count) AS SIGNED) AS count FROM migration_accounts
      WHERE job = \(job) GROUP BY app, environment, outcome
      UNION ALL SELECT 0, 0, 'rows', CAST(COALESCE(SUM(rows_in), 0) AS SIGNED) FROM migration_parts WHERE job = \(job)
      """)
    {
      let (name, count) = (try row.text("outcome"), try row.int("count"))
      if name == "rows" {
        all.rows = count
        continue
      }
      guard let outcome = MigrationOutcome(name: name) else { continue }
      let (app, environment) = (try row.int("app"), try row.int("environment"))
      let place = CountScope(
        app: app == 0 ? nil : App.ID(app), environment: environment == 0 ? nil : try Environment(code: environment))
      all.add(count, of: outcome)
      byPlace[place, default: MigrationCounts()].add(count, of: outcome)
    }
    return (all, byPlace)
  }
}

import Database
import Purchases

/// `migration_ids`: the IDs of a job to look up at Apple, and the result of each.
enum MigrationIDTable {
  enum State: Int {
    case waiting = 0
    case asked = 1
    case settled = 2
    case unknown = 3
    case failed = 4

    /// Creates the state after a lookup, or `nil` while the lookup is open.
    init?(after lookUp: HistoryJobTable.State) {
      switch lookUp {
      case .waiting: return nil
      case .done: self = .settled
      case .unknown: self = .unknown
      case .failed: self = .failed
      }
    }

    var outcome: MigrationOutcome? {
      switch self {
      case .waiting, .asked: nil
      case .settled: .settled
      case .unknown: .unknown
      case .failed: .failed
      }
    }
  }

  struct New: Hashable {
    let app: App.ID
    let id: MigrationStep.ID
    let isActive: Bool
  }

  private static let insert = BulkInsert(
    into: "INSERT IGNORE INTO migration_ids (job, app, environment, id, priority) VALUES")

  /// Adds the new IDs, and returns their number by scope.
  ///
  /// An ID of an active customer keeps that priority, even if others have it too.
  static func add(
    _ ids: [New], job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [MigrationAccountTable.CountScope: Int] {
    var priorities: [MigrationAccountTable.CountScope: [String: Int64]] = [:]
    for new in ids {
      let place = MigrationAccountTable.CountScope(app: new.app, environment: new.id.environment)
      let priority: Int64 = new.isActive ? 0 : 1
      priorities[place, default: [:]][new.id.id] = min(priorities[place]?[new.id.id] ?? priority, priority)
    }
    var counts: [MigrationAccountTable.CountScope: Int] = [:]
    for (place, ids) in priorities.sorted(by: { $0.key.isBefore($1.key) }) {
      let rows: [[SQLValue]] = ids.map { id, priority in
        [.integer(Int64(job))] + place.columns + [.text(id), .integer(priority)]
      }
      let added = Int(try session.insert(insert, rows: rows.inKeyOrder(columns: 4)))
      counts[place] = added
      guard added < ids.count else { continue }
      for ids in ids.filter({ $0.value == 0 }).keys.sorted().parts() {
        _ = try session.execute(
          """
          UPDATE migration_ids FORCE INDEX (PRIMARY) SET priority = 0
          WHERE job = \(job) AND app = \(place.app?.number ?? 0)
          AND environment = \(place.environment?.code ?? 0) AND id IN (\(list: ids)) AND priority > 0
          """)
      }
    }
    return counts
  }
}

extension MigrationAccountTable.CountScope {
  /// 0 if unknown.
  var numbers: (app: Int, environment: Int) { (app?.number ?? 0, environment?.code ?? 0) }
  var columns: [SQLValue] { [.integer(Int64(numbers.app)), .integer(Int64(numbers.environment))] }

  func isBefore(_ other: Self) -> Bool { numbers < other.numbers }
}

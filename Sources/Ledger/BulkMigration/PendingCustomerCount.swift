import Database
import Purchases

/// The customers that waiting IDs cause the services to look up.
///
/// An ID with a history or a final result causes no call. Several IDs of one customer cause one call, unless Apple does
/// not know the first.
struct PendingCustomerCount {
  /// The customers by ID, each by environment and label.
  ///
  /// Empty for an ID that needs no call.
  private var customers: [String: Set<String>] = [:]

  /// - Parameter environments: the environments for the lookup of each ID.
  init(_ environments: [String: Set<Environment>], app: App.ID, in session: borrowing Session) throws(DatabaseError) {
    for environment in Environment.allCases {
      let scope = AppScope(app: app, environment: environment)
      let ids = environments.filter { $0.value.contains(environment) }.keys.sorted()
      for part in ids.parts() {
        let rows = part.enumerated().map { HistoryJob(id: Int64($0.offset), subject: $0.element) }
        var waiting = try PendingCustomers(of: rows, in: scope, session)
        waiting.remove(try waiting.covered(in: scope, session))
        let answered = try Self.answered(part, in: scope, session)
        for (label, rows) in waiting.groups {
          for row in rows where !answered.contains(row.subject) {
            customers[row.subject, default: []].insert("\(environment.code) \(label)")
          }
        }
      }
    }
  }

  private static func answered(
    _ ids: [String], in scope: AppScope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<String> {
    var answered: Set<String> = []
    let (kind, waiting) = (HistoryJobTable.Kind.history.rawValue, HistoryJobTable.State.waiting.rawValue)
    try session.read("subject", of: .work, ids, in: scope, "AND kind = \(kind) WHERE state <> \(waiting)") {
      row throws(DatabaseError) in answered.insert(try row.text("subject"))
    }
    return answered
  }

  /// Returns the first IDs that cause lookups of at most `limit` customers, and the number of these customers.
  ///
  /// Later IDs are included if they need no further call. Unless `limit` is 0, at least one ID is included.
  func first(_ limit: Int, of ids: [String]) -> (ids: [String], calls: Int) {
    var (taken, asked): ([String], Set<String>) = ([], [])
    for id in ids {
      let more = customers[id, default: []].subtracting(asked)
      guard more.isEmpty || asked.count < limit else { continue }
      asked.formUnion(more)
      taken.append(id)
    }
    return (taken, asked.count)
  }
}

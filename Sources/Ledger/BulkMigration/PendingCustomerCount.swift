import Database
import Purchases

/// Whom ids that wait make the services ask Apple about.
///
/// An id whose history is stored, or that was answered before, makes no call; the ids of one customer that wait together make
/// one. (Unless Apple does not know the id that it is asked by: then the next one is tried.)
struct PendingCustomerCount {
  /// By id, the customers, each by environment and label; none for an id that needs no call.
  private var customers: [String: Set<String>] = [:]

  /// - Parameter environments: in which each id is asked about.
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

  /// Those that have their final answer: nobody asks about them again.
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

  /// The first of the ids, in their order, that do not make Apple be asked about more than `limit` customers, and about how
  /// many they do.
  ///
  /// Ids further back go along where they need no further call. At least one id is taken if `limit` is not 0, even one that
  /// is asked about in two environments.
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

import Database
import Purchases

/// `histories.held_with`: the name of a history, shared by all IDs that one history of Apple ever held together.
///
/// A later history may hold only some of the IDs: histories with a common ID belong to one Apple account. Customers'
/// links differ: receipts and app transactions create those too.
struct HistoryGroup {
  private var names: [String: String] = [:]
  /// The new name of each replaced one.
  private var renamed: [String: String] = [:]

  init(_ histories: [StoredHistory], in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) {
    let ids = histories.reduce(into: Set<String>()) { $0.formUnion($1.originalTransactionIDs) }
    try session.read("original_transaction_id, held_with", of: .histories, ids, in: scope) {
      row throws(DatabaseError) in names[try row.text("original_transaction_id")] = try row.text("held_with")
    }
    for history in histories { join(history.originalTransactionIDs.sorted()) }
  }

  private mutating func join(_ ids: [String]) {
    let known = Set(ids.compactMap { names[$0].map(current) }).sorted()
    guard let name = known.first ?? ids.first else { return }
    for other in known.dropFirst() { renamed[other] = name }
    for id in ids { names[id] = name }
  }

  private func current(_ name: String) -> String {
    var name = name
    while let next = renamed[name] { name = next }
    return name
  }

  subscript(id: String) -> String { names[id].map(current) ?? id }

  func rename(in scope: AppScope, _ session: borrowing Session) throws(DatabaseError) {
    for (former, _) in renamed.sorted(by: { $0.key < $1.key }) {
      _ = try session.execute(
        """
        UPDATE \(Table.histories.by("by_held_with")) SET held_with = \(current(former))
        WHERE \(in: scope) AND held_with = \(former)
        """)
    }
  }
}

package import Database
package import JSON
import Ledger
package import Purchases
import Support

/// Which originalTransactionIds a ledger holds for one person's.
package struct KnownCustomers: Sendable {
  /// By what the ledger calls them.
  private var customers: [String: Set<String>] = [:]
  private var labels: [String: String] = [:]

  /// Reads everybody of whom a purchase is known.
  package init(of bundleID: String, in environment: Environment, _ pool: Pool) async throws {
    let ledger = LedgerStore(pool: pool)
    let app = try await pool.read { session throws(DatabaseError) in try AppTable.find(bundleID, in: session) }
    guard let app else { throw DatabaseError(.misuse, "no app \(bundleID)") }
    var last: String?
    while let slice = try await ledger.slice(of: app, environment, after: last, limit: 200) {
      last = slice.originalTransactionIDs.last
      for id in slice.originalTransactionIDs {
        let label = slice.customers[id] ?? id
        customers[label, default: []].insert(id)
        labels[id] = label
      }
    }
  }

  /// What is other than a world's `truth`: a person who was taken for several, several who were taken for one.
  package func differences(from truth: [JSONObject]) -> [String] {
    truth.filter { $0["kind"]?.string == "customer" }.compactMap { person in
      let ids = Set((person["originalTransactionIds"]?.array ?? []).compactMap(\.string))
      let known = ids.reduce(into: Set<String>()) { $0.formUnion(labels[$1].flatMap { customers[$0] } ?? []) }
      let people = Set(ids.map { labels[$0] ?? $0 })
      guard known != ids || people.count > 1 else { return nil }
      return "customer \(person["customer"]?.string ?? "") has \(ids.sorted()), the ledger says \(known.sorted()) "
        + "of \(people.count)"
    }
  }
}

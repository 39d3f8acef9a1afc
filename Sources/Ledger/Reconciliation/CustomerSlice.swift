package import Database
package import Purchases

/// What is known below some originalTransactionIds, as they follow one another: everything, piece by piece.
package struct CustomerSlice: Sendable {
  /// In order.
  package let originalTransactionIDs: [String]
  /// The label of the customer of each; one that nothing links has none.
  package let customers: [String: String]
  package let purchases: [PurchaseStatement]
  package let renewals: [RenewalStatement]
  /// What notifications told of them.
  package let events: [Event]
}

extension LedgerStore {
  /// The next `limit` originalTransactionIds of which a purchase is known; nil after the last.
  package func slice(
    of app: App, _ environment: Environment, after last: String?, limit: Int
  ) async throws(DatabaseError) -> CustomerSlice? {
    let scope = AppScope(app: app.id, environment: environment)
    return try await pool.read { session throws(DatabaseError) in
      var originals: [String] = []
      // `as_of` is never NULL, but it is no column of the index. When the index has every column that is asked for, and the
      // table is believed to be empty, MySQL 9.7 reads the index from its beginning, although it is told which part.
      for row in try session.query(
        """
        SELECT DISTINCT original_transaction_id FROM \(Table.purchases.by("PRIMARY"))
        WHERE \(in: scope) AND as_of IS NOT NULL
        AND original_transaction_id > \(last ?? "") ORDER BY original_transaction_id LIMIT \(limit)
        """)
      { originals.append(try row.text("original_transaction_id")) }
      return originals.isEmpty ? nil : try Self.slice(originals, app, environment, in: session)
    }
  }

  /// The same originalTransactionIds again, as they are known now.
  package func slice(
    of originals: [String], app: App, _ environment: Environment
  ) async throws(DatabaseError) -> CustomerSlice {
    try await pool.read { session throws(DatabaseError) in try Self.slice(originals, app, environment, in: session) }
  }

  private static func slice(
    _ originals: [String], _ app: App, _ environment: Environment, in session: borrowing Session
  ) throws(DatabaseError) -> CustomerSlice {
    let scope = AppScope(app: app.id, environment: environment)
    var customers: [String: String] = [:]
    // Not the members: a customer of thousands is met again in slice after slice.
    let nodes = originals.map { CustomerNode.originalTransactionID($0).text }
    for (node, label) in try CustomerMembers.labels(ofNodes: nodes, in: scope, session) {
      if let id = CustomerNode(text: node)?.originalTransactionID { customers[id] = label }
    }
    return CustomerSlice(
      originalTransactionIDs: originals, customers: customers,
      purchases: try PurchaseTable.find(originals, app: app, environment: environment, in: session),
      renewals: try RenewalTable.find(originals, app: app, environment: environment, in: session),
      events: try EventTable.read(
        from: Table.events.each(originals, in: scope), "", bundleIDs: [app.id: app.bundleID], in: session))
  }
}

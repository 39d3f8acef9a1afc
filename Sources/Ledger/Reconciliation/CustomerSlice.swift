package import Database
package import Purchases

/// The data of some consecutive originalTransactionIds, for a scan of all customers.
package struct CustomerSlice: Sendable {
  /// The IDs, in order.
  package let originalTransactionIDs: [String]
  /// The label of each ID's customer.
  ///
  /// An ID without a link has no label.
  package let customers: [String: String]
  package let purchases: [PurchaseStatement]
  package let renewals: [RenewalStatement]
  /// The events from their notifications.
  package let events: [Event]
}

extension LedgerStore {
  /// Returns the next `limit` originalTransactionIds that have a purchase, or `nil` after the last.
  package func slice(
    of app: App, _ environment: Environment, after last: String?, limit: Int
  ) async throws(DatabaseError) -> CustomerSlice? {
    let scope = AppScope(app: app.id, environment: environment)
    return try await pool.read { session throws(DatabaseError) in
      var originals: [String] = []
      // `as_of` is never NULL, but it is not in the index. If the index has every requested column and the table is
      // estimated to be empty, MySQL 9.7 reads the index from its beginning, despite the condition.
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
    // Labels instead of members: a customer with thousands of members recurs in many slices.
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

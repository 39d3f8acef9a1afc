package import Database
package import Purchases
package import Time

/// What Apple's history of a customer held.
package struct StoredHistory: Sendable {
  /// Where Apple knew the customer.
  package let environment: Environment
  package let originalTransactionIDs: Set<String>
  package let transactionIDs: Set<String>
  /// Where it ended; Apple tells from there on what changes.
  package let revision: String?

  package init(
    environment: Environment, originalTransactionIDs: Set<String>, transactionIDs: Set<String>, revision: String?
  ) {
    self.environment = environment
    self.originalTransactionIDs = originalTransactionIDs
    self.transactionIDs = transactionIDs
    self.revision = revision
  }
}

extension WorkTable {
  /// What becomes of a lease; all of it can be noted again without harm.
  package enum Settlement: Sendable {
    /// The history is stored: every row whose id it held is done, the customer's others are asked about next.
    case stored(StoredHistory)
    /// Nothing more is to be asked by this id; the customer's others are asked about next.
    case closed(State, reason: String)
    /// To be tried again, the attempt counted.
    case again(at: Milliseconds, reason: String)
    /// Given back as it was; the attempt does not count.
    case released(until: Milliseconds)
  }

  /// Notes what became of leases; of one that was lost only what was stored.
  package static func settle(
    _ settlements: [(customer: LeasedCustomer, settlement: Settlement)], at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) {
    for (customer, settlement) in settlements {
      if let environment = customer.unknownIn {
        // Of the id, whoever has the lease by now.
        _ = try session.execute(
          "UPDATE work SET unknown_in = \(environment.code) WHERE id = \(customer.row) AND state = 0")
      }
      switch settlement {
      case .stored(let history): try note(history, of: customer, at: now, in: session)
      case .closed(let state, let reason):
        _ = try session.execute(
          """
          UPDATE work SET state = \(state.rawValue), settled_at = \(now), reason = \(reason.cut(to: 255)), owner = NULL
          WHERE id = \(customer.row) AND owner = \(customer.owner) AND state = 0
          """)
        try release(customer.rows.filter { $0 != customer.row }, owner: customer.owner, at: now, in: session)
      case .again(let due, let reason):
        _ = try session.execute(
          """
          UPDATE work SET owner = NULL, due_at = \(due), reason = \(reason.cut(to: 255))
          WHERE id IN (\(list: customer.rows.sorted())) AND owner = \(customer.owner) AND state = 0
          """)
      case .released(let due): try release(customer.rows, owner: customer.owner, at: due, in: session)
      }
    }
  }

  private static func note(
    _ history: StoredHistory, of customer: LeasedCustomer, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    let scope = Ledger.Scope(app: customer.scope.app, environment: history.environment)
    try HistoryTable.note(history, in: scope, at: now, session)
    let held = history.originalTransactionIDs.union(history.transactionIDs)
    // Wherever such an id waits, whoever leased it: what it was to bring is here.
    var rows: Set<Int64> = [customer.row]
    for environment in Set([customer.scope.environment, history.environment]) {
      for row in try session.query(
        """
        SELECT id FROM work WHERE app = \(scope.app.number) AND environment = \(environment.code)
        AND kind = \(Kind.history.rawValue) AND subject IN (\(list: held.sorted())) AND state = 0
        """)
      {
        rows.insert(try row.int64("id"))
      }
    }
    try settle(rows.sorted(), .done, reason: "history in \(history.environment.rawValue)", at: now, in: session)
    try release(customer.rows.filter { !rows.contains($0) }, owner: customer.owner, at: now, in: session)
  }

  /// Settles rows whoever has leased them.
  static func settle(
    _ rows: [Int64], _ state: State, reason: String, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    guard !rows.isEmpty else { return }
    _ = try session.execute(
      """
      UPDATE work SET state = \(state.rawValue), settled_at = \(now), reason = \(reason.cut(to: 255)), owner = NULL
      WHERE id IN (\(list: rows.sorted())) AND state = 0
      """)
  }
}

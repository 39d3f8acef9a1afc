package import Database
package import Purchases
package import Time

package struct StoredHistory: Sendable {
  package let environment: Environment
  package let originalTransactionIDs: Set<String>
  package let transactionIDs: Set<String>
  /// The revision at its end, from which Apple returns later changes.
  package let revision: String?
  /// The next checks of the customer's subscriptions, by Apple's statuses of them.
  package let renewalChecks: [RenewalCheck]

  package init(
    environment: Environment, originalTransactionIDs: Set<String>, transactionIDs: Set<String>, revision: String?,
    renewalChecks: [RenewalCheck] = []
  ) {
    self.environment = environment
    self.originalTransactionIDs = originalTransactionIDs
    self.transactionIDs = transactionIDs
    self.revision = revision
    self.renewalChecks = renewalChecks
  }
}

extension HistoryJobTable {
  /// The outcome of a lease, which can be stored repeatedly.
  package enum Outcome: Sendable {
    /// The history is stored.
    ///
    /// Every row whose ID it held is done, and the customer's others are next.
    case stored(StoredHistory)
    /// No further lookup by this ID.
    ///
    /// The customer's others are next.
    case closed(State, reason: String)
    /// Another attempt is due.
    ///
    /// This one counts.
    case again(at: Timestamp, reason: String)
    /// Released unchanged.
    case released(until: Timestamp, because: String? = nil)
  }

  /// Stores the outcomes of leases.
  ///
  /// For a lost lease it stores only the history's effects.
  package static func settle(
    _ settlements: [(customer: LeasedHistoryJob, settlement: Outcome)], at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    var found: [Road: [(customer: LeasedHistoryJob, history: StoredHistory)]] = [:]
    let unsettled = try settleClaims(settlements, session)
    for (customer, settlement) in settlements {
      if let environment = customer.unknownIn {
        // This applies to the ID, regardless of the lease's owner.
        try update([customer.row], "unknown_in = \(environment.code)", in: session)
      }
      switch settlement {
      case .stored(let history):
        found[Road(asked: customer.scope, known: history.environment), default: []].append((customer, history))
      case .closed(let state, let reason):
        if !unsettled.contains(customer.row) {
          try settle([customer.row], state, reason: reason, leasedBy: customer.owner, at: now, in: session)
        }
        let others = customer.rows.filter { $0 != customer.row && !unsettled.contains($0) }
        try release(others, owner: customer.owner, at: now, in: session)
      case .again(let due, let reason):
        try update(
          customer.rows, "owner = NULL, due_at = \(due), attempts = attempts + 1, reason = \(reason.cut(to: 255))",
          where: "owner = \(customer.owner) AND state = 0", in: session)
      case .released(let due, let reason):
        try release(customer.rows, owner: customer.owner, at: due, because: reason, in: session)
      }
    }
    for (road, found) in found.sorted(by: { $0.key < $1.key }) {
      try note(found, along: road, butFor: unsettled, at: now, in: session)
    }
    // There was another report during the lookup, or Apple does not show the change yet: another lookup follows after a
    // pause.
    for (customer, _) in settlements {
      let rows = customer.rows.filter(unsettled.contains)
      try release(rows, owner: customer.owner, at: now + UnconfirmedChangeTable.shortestInterval, in: session)
    }
  }

  /// Settles the reports that came before the leases and are answered now.
  ///
  /// Returns the rows that need another lookup.
  private static func settleClaims(
    _ settlements: [(customer: LeasedHistoryJob, settlement: Outcome)], _ session: borrowing Session
  ) throws(DatabaseError) -> Set<Int64> {
    var answered: [AppScope: [(claimed: ClaimedLookUp, askedAt: Timestamp?)]] = [:]
    for (customer, settlement) in settlements {
      // Without an ID to look up, a wait changes nothing.
      let askedAt: Timestamp? = if case .stored = settlement { customer.leasedAt } else { nil }
      answered[customer.scope, default: []] += customer.claimed.filter { $0.isAnswered(by: settlement, customer) }
        .map { ($0, askedAt) }
    }
    var unsettled: Set<Int64> = []
    for (scope, answered) in answered.sorted(by: { $0.key < $1.key }) where !answered.isEmpty {
      let answers = Dictionary(
        answered.map { claimed, askedAt in
          (claimed.originalTransactionID, UnconfirmedChangeTable.Answer(reports: claimed.reports, askedAt: askedAt))
        }, uniquingKeysWith: { $0.reports >= $1.reports ? $0 : $1 })
      let ids = try UnconfirmedChangeTable.settle(answers, in: scope, session)
      unsettled.formUnion(answered.map(\.claimed).filter { ids.contains($0.originalTransactionID) }.map(\.row))
    }
    return unsettled
  }

  private struct Road: Hashable, Comparable {
    let asked: AppScope
    let known: Environment

    static func < (a: Self, b: Self) -> Bool { (a.asked, a.known) < (b.asked, b.known) }
  }

  private static func note(
    _ found: [(customer: LeasedHistoryJob, history: StoredHistory)], along road: Road, butFor unsettled: Set<Int64>,
    at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    let scope = AppScope(app: road.asked.app, environment: road.known)
    try HistoryTable.note(found.map(\.history), in: scope, at: now, session)
    try RenewalCheckTable.plan(found.flatMap(\.history.renewalChecks), in: scope, session)
    var held: Set<String> = []
    for (_, history) in found {
      held.formUnion(history.originalTransactionIDs)
      held.formUnion(history.transactionIDs)
    }
    // Settles every row of such an ID, regardless of its lease: the requested data is stored.
    var rows = Set(found.map(\.customer.row))
    for (customer, history) in found {
      rows.formUnion(customer.claimed.filter { $0.isAnswered(by: .stored(history), customer) }.map(\.row))
    }
    for environment in Set([road.asked.environment, road.known]) {
      for ids in held.sorted().parts() {
        for row in try session.query(
          """
          SELECT id FROM \(listed(ids, of: [.history, .unverifiedID], in: AppScope(app: scope.app, environment: environment)))
          WHERE state = 0
          """)
        {
          rows.insert(try row.int64("id"))
        }
      }
    }
    rows.subtract(unsettled)
    try settle(rows.sorted(), .done, reason: "history in \(road.known.rawValue)", at: now, in: session)
    for (customer, _) in found {
      let others = customer.rows.filter { !rows.contains($0) && !unsettled.contains($0) }
      try release(others, owner: customer.owner, at: now, in: session)
    }
  }

  /// Settles rows, regardless of their lease unless `owner` is set.
  static func settle(
    _ rows: [Int64], _ state: State, reason: String, leasedBy owner: [UInt8]? = nil, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) {
    let leased: SQL = if let owner { "owner = \(owner) AND state = 0" } else { "state = 0" }
    try update(
      rows, "state = \(state.rawValue), settled_at = \(now), reason = \(reason.cut(to: 255)), owner = NULL",
      where: leased, in: session)
  }
}

extension ClaimedLookUp {
  fileprivate func isAnswered(by settlement: HistoryJobTable.Outcome, _ customer: LeasedHistoryJob) -> Bool {
    switch settlement {
    case .stored(let history): row == customer.row || history.originalTransactionIDs.contains(originalTransactionID)
    case .closed: row == customer.row
    case .again, .released: false
    }
  }
}

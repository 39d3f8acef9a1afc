package import Database
package import Purchases
package import Time

/// A customer of whom this process alone asks Apple, until the lease ends.
package struct LeasedCustomer: Sendable {
  package let scope: Ledger.Scope
  /// The id to ask by.
  package let subject: String
  /// How often it was tried and an answer failed, this time included; a lease that ended by itself was no attempt.
  package let attempt: Int
  /// Where an earlier history of the id ended; Apple tells what changed since.
  package let revision: String?
  /// Where Apple said that it knows no such id, while the other environment has not answered.
  package var unknownIn: Environment?
  /// Whether the lease noted that Apple is asked about them now.
  package let isBegun: Bool
  package let leasedAt: Milliseconds
  /// The rows of the customer that are leased, the subject's among them.
  let rows: [Int64]
  let row: Int64
  let owner: [UInt8]
  /// Of these rows, those that wait because of something claimed.
  let claimed: [ClaimedLookUp]

  /// Whether nothing but unsigned messages wants this look-up.
  package var isClaimedAlone: Bool { claimed.count == rows.count }
}

/// A row that waits because of what unsigned messages reported, and how many reports this look-up answers.
struct ClaimedLookUp: Sendable {
  let row: Int64
  let originalTransactionID: String
  /// As of the lease: whatever was reported before it, Apple's answer settles.
  let reports: Int
}

extension WorkTable {
  /// The queues from which customers are leased.
  package enum Queue: Hashable, Sendable, CaseIterable {
    /// Ids that arrived, and news that somebody wants.
    case requested
    /// What unsigned messages reported: customers that are known first, then ids that nobody else names.
    case claimed

    /// The kind of ids that are queued without a claimed change.
    package var kindOfIDs: Kind {
      switch self {
      case .requested: .history
      case .claimed: .claimedID
      }
    }

    /// In the order in which they are leased.
    var kinds: [Kind] {
      switch self {
      case .requested: [.history]
      case .claimed: Kind.claimed
      }
    }
  }

  /// Whom to ask about.
  package struct Selection: Sendable {
    package let scope: Ledger.Scope
    package let queue: Queue
    /// Only customers with one of these ids, for somebody who waits; nil: all.
    package let subjects: [String]?
    /// Whether Apple is asked as soon as the lease is committed: it is begun by that.
    package let goesAtOnce: Bool

    /// Leases that nobody has begun are taken over.
    var isUrgent: Bool { subjects != nil }

    package init(_ scope: Ledger.Scope, _ queue: Queue = .requested, goesAtOnce: Bool = false) {
      self.scope = scope
      self.queue = queue
      self.goesAtOnce = goesAtOnce
      subjects = nil
    }

    /// For somebody who waits for these ids.
    package init(_ scope: Ledger.Scope, subjects: [String]) {
      self.scope = scope
      queue = .requested
      self.subjects = subjects
      goesAtOnce = true
    }
  }

  /// What leasing came to.
  package struct Lease: Sendable {
    package let customers: [LeasedCustomer]
    /// Rows that were due and are done without being asked about: a history that is stored holds their ids.
    package let settled: Int
  }

  /// Leases up to `limit` customers with rows that are due; to be committed before Apple is asked.
  ///
  /// A customer of whom any row is leased is left alone, so that two processes never ask about one customer at once; but
  /// what nobody has begun is taken over for whoever waits, and is begun by that.
  /// Rows whose id is in a history that was stored already are done by that.
  package static func lease(
    _ selection: Selection, limit: Int, until end: Milliseconds, owner: [UInt8], at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) -> Lease {
    let scope = selection.scope
    var last: [Kind: WorkRow] = [:]
    var (customers, covered): (Customers, [Int64])
    var pagesLeft = pages
    repeat {
      let due = try dueRows(selection, after: last, limit: limit, at: now, in: session)
      guard !due.isEmpty else { return Lease(customers: [], settled: 0) }
      customers = try Customers(of: due, in: scope, session)
      covered = try customers.covered(in: scope, session)
      try settle(covered, .done, reason: "in a history that was stored", at: now, in: session)
      customers.remove(covered)
      try customers.gatherOthers(in: scope, at: now, takingOver: selection.isUrgent, session)
      for row in due { last[row.kind] = row }
      pagesLeft -= due.count == limit ? 1 : pages
      // Customers who are leased elsewhere are not to stand in the way of the others behind them.
    } while customers.groups.isEmpty && covered.isEmpty && pagesLeft > 0
    let wanted = customers.groups.values.flatMap { $0.map(\.id) }.sorted()
    guard !wanted.isEmpty else { return Lease(customers: [], settled: covered.count) }
    let (isUrgent, isBegun) = (selection.isUrgent ? 1 : 0, selection.goesAtOnce ? 1 : 0)
    var ours: [Int64: Int] = [:]
    for wanted in wanted.parts() {
      _ = try session.execute(
        """
        UPDATE work SET owner = \(owner), due_at = \(end), begun = \(isBegun)
        WHERE id IN (\(list: wanted)) AND state = 0 AND (due_at <= \(now) OR owner IS NULL OR begun < \(isUrgent))
        """)
      for row in try session.query(
        "SELECT id, attempts FROM work WHERE id IN (\(list: wanted)) AND owner = \(owner) AND due_at = \(end)")
      {
        ours[try row.int64("id")] = try row.int("attempts")
      }
    }
    let reports = try ClaimedChangeTable.counts(
      of: customers.groups.values.joined().filter(\.kind.isClaimed).map(\.subject), in: scope, session)
    let revisions = try HistoryTable.revisions(
      of: customers.groups.values.joined().filter(\.isAgain).map(\.subject), in: scope, session)
    var leased: [LeasedCustomer] = []
    for rows in customers.groups.values {
      // Somebody else was faster with a part of the customer: all of it is theirs.
      guard let first = rows.first, rows.allSatisfy({ ours[$0.id] != nil }) else {
        try release(rows.map(\.id).filter { ours[$0] != nil }, owner: owner, at: now, in: session)
        continue
      }
      leased.append(
        LeasedCustomer(
          scope: scope, subject: first.subject, attempt: 1 + (ours[first.id] ?? 0),
          revision: revisions[first.subject], unknownIn: first.unknownIn, isBegun: selection.goesAtOnce,
          leasedAt: now, rows: rows.map(\.id), row: first.id, owner: owner,
          claimed: rows.filter(\.kind.isClaimed).map {
            ClaimedLookUp(row: $0.id, originalTransactionID: $0.subject, reports: reports[$0.subject] ?? 0)
          }))
    }
    return Lease(customers: leased, settled: covered.count)
  }

  /// Gives rows back as they were.
  static func release(
    _ rows: [Int64], owner: [UInt8], at due: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) {
    for rows in rows.sorted().parts() {
      _ = try session.execute(
        """
        UPDATE work SET owner = NULL, due_at = \(due)
        WHERE id IN (\(list: rows)) AND owner = \(owner) AND state = 0
        """)
    }
  }

  /// How many times in a row one lease reads on where it found nobody but customers who are leased elsewhere.
  private static let pages = 8

  private static func dueRows(
    _ selection: Selection, after last: [Kind: WorkRow], limit: Int, at now: Milliseconds, in session: borrowing Session
  ) throws(DatabaseError) -> [WorkRow] {
    var rows: [WorkRow] = []
    for kind in selection.queue.kinds where rows.count < limit {
      rows += try dueRows(kind, selection, after: last[kind], limit: limit - rows.count, at: now, in: session)
    }
    return rows
  }

  private static func dueRows(
    _ kind: Kind, _ selection: Selection, after last: WorkRow?, limit: Int, at now: Milliseconds,
    in session: borrowing Session
  ) throws(DatabaseError) -> [WorkRow] {
    let scope = selection.scope
    var find: SQL = """
      SELECT id, kind, subject, is_again, unknown_in, due_at FROM work
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND kind = \(kind.rawValue)
      AND state = 0 AND (due_at <= \(now)
      """
    if let subjects = selection.subjects {
      // Whoever names an id does not wait for the end of a pause, nor behind what others have put by for later.
      find += " OR owner IS NULL OR begun = 0) AND subject IN (\(list: subjects))"
    } else {
      find += ")"
    }
    if let last { find += " AND due_at >= \(last.dueAt) AND (due_at > \(last.dueAt) OR id > \(last.id))" }
    var rows: [WorkRow] = []
    for row in try session.query(find + " ORDER BY due_at, id LIMIT \(limit)") {
      rows.append(try WorkRow(row))
    }
    return rows
  }
}

/// A row that waits.
struct WorkRow: Hashable {
  let id: Int64
  let kind: WorkTable.Kind
  let subject: String
  let isAgain: Bool
  let unknownIn: Environment?
  let dueAt: Milliseconds

  init(_ row: Row) throws(DatabaseError) {
    id = try row.int64("id")
    kind = try WorkTable.kind(of: row)
    subject = try row.text("subject")
    isAgain = try row.bool("is_again")
    unknownIn = try row.optionalInt("unknown_in").map { code throws(DatabaseError) in try Environment(code: code) }
    dueAt = try row.milliseconds("due_at")
  }
}

/// Rows that wait, by the customers to whom they belong as far as that is known now.
private struct Customers {
  /// By the customer's label.
  var groups: [String: [WorkRow]] = [:]
  /// The originalTransactionIds of each row's id; its own where it is none that is known.
  private var originals: [Int64: Set<String>] = [:]

  init(of rows: [WorkRow], in scope: Ledger.Scope, _ session: borrowing Session) throws(DatabaseError) {
    let known = try Self.originals(of: rows.map(\.subject), in: scope, session)
    let labels: [String: String]
    let nodes = Set(rows.flatMap { Array(known[$0.subject] ?? [$0.subject]) })
      .map { CustomerNode.originalTransactionID($0).text }.sorted()
    labels = try CustomerMembers.labels(ofNodes: nodes, in: scope, session)
    for row in rows {
      let ids = known[row.subject] ?? [row.subject]
      originals[row.id] = ids
      guard let first = ids.min() else { continue }
      let node = CustomerNode.originalTransactionID(first).text
      groups[labels[node] ?? node, default: []].append(row)
    }
  }

  private static func originals(
    of subjects: [String], in scope: Ledger.Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> [String: Set<String>] {
    var originals: [String: Set<String>] = [:]
    for row in try session.query(
      """
      SELECT alias, original_transaction_id FROM aliases
      WHERE app = \(scope.app.number) AND environment = \(scope.environment.code) AND alias IN (\(list: subjects))
      AND kind = \(Alias.Kind.transactionID.rawValue)
      """)
    {
      originals[try row.text("alias"), default: []].insert(try row.text("original_transaction_id"))
    }
    return originals
  }

  /// The rows whose every originalTransactionId is in a history that was stored, but for those that ask again.
  func covered(in scope: Ledger.Scope, _ session: borrowing Session) throws(DatabaseError) -> [Int64] {
    let stored = try HistoryTable.stored(Set(originals.values.joined()), in: scope, session)
    guard !stored.isEmpty else { return [] }
    let again = Set(groups.values.joined().filter(\.isAgain).map(\.id))
    return originals.filter { stored.isSuperset(of: $0.value) && !again.contains($0.key) }.map(\.key)
  }

  mutating func remove(_ rows: [Int64]) {
    let gone = Set(rows)
    guard !gone.isEmpty else { return }
    groups = groups.mapValues { $0.filter { !gone.contains($0.id) } }.filter { !$0.value.isEmpty }
  }

  /// Adds the customers' other rows that wait; forgets customers of whom a row is leased.
  mutating func gatherOthers(
    in scope: Ledger.Scope, at now: Milliseconds, takingOver isUrgent: Bool, _ session: borrowing Session
  ) throws(DatabaseError) {
    // A purchase that nothing links has no row in `customers`, and is asked about by any of its ids.
    var labels: [String: String] = [:]
    for (label, rows) in groups {
      for id in rows.flatMap({ originals[$0.id] ?? [] }) { labels[id] = label }
    }
    for row in try session.query(
      """
      SELECT node, label FROM customers WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
      AND label IN (\(list: groups.keys.sorted()))
      """)
    {
      guard case .originalTransactionID(let id)? = CustomerNode(text: try row.text("node")) else { continue }
      labels[id] = try row.text("label")
    }
    // A customer may have thousands of rows: none is searched for among all others.
    var gathered = Set(groups.values.joined().map(\.id))
    for ids in labels.keys.sorted().parts() {
      for row in try session.query(
        """
        SELECT id, kind, subject, is_again, unknown_in, due_at,
          owner IS NOT NULL AND due_at > \(now) AND begun >= \(isUrgent ? 1 : 0) AS is_leased
        FROM work
        WHERE app = \(scope.app.number) AND environment = \(scope.environment.code)
        AND kind IN (\(list: WorkTable.Kind.allCases.map(\.rawValue))) AND subject IN (\(list: ids)) AND state = 0
        ORDER BY id
        """)
      {
        let found = try WorkRow(row)
        guard let label = labels[found.subject], groups[label] != nil else { continue }
        if try row.bool("is_leased") {
          groups[label] = nil
        } else if gathered.insert(found.id).inserted {
          groups[label, default: []].append(found)
        }
      }
    }
  }
}

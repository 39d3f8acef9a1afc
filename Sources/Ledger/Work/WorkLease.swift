package import Database
import Purchases
package import Time

extension HistoryJobTable {
  /// The queues from which customers are leased.
  package enum Queue: Hashable, Sendable, CaseIterable {
    /// Ids that arrived, and news that somebody wants.
    case requested
    /// What unsigned messages reported: customers that are known first, then ids that nobody else names.
    case claimed
    /// Ids that back ends handed in and nothing proves.
    case unverified

    /// The kind of ids that are queued without a claimed change.
    package var kindOfIDs: Kind {
      switch self {
      case .requested: .history
      case .claimed: .claimedID
      case .unverified: .unverifiedID
      }
    }

    /// In the order in which they are leased.
    var kinds: [Kind] {
      switch self {
      case .requested: [.history]
      case .claimed: Kind.claimed
      case .unverified: [.unverifiedID]
      }
    }
  }

  /// Whom to ask about.
  package struct Selection: Sendable {
    package let scope: AppScope
    package let queue: Queue
    /// Only customers with one of these ids, for somebody who waits; nil: all.
    package let subjects: [String]?
    /// Whether Apple is asked as soon as the lease is committed: it is begun by that.
    package let goesAtOnce: Bool

    /// Leases that nobody has begun are taken over.
    var isUrgent: Bool { subjects != nil }

    package init(_ scope: AppScope, _ queue: Queue = .requested, goesAtOnce: Bool = false) {
      self.scope = scope
      self.queue = queue
      self.goesAtOnce = goesAtOnce
      subjects = nil
    }

    /// For somebody who waits for these ids.
    package init(_ scope: AppScope, _ queue: Queue = .requested, subjects: [String]) {
      self.scope = scope
      self.queue = queue
      self.subjects = subjects
      // What nothing proves waits for its share of the budget: who can prove it takes it over until then.
      goesAtOnce = queue == .requested
    }
  }

  /// What leasing came to.
  package struct Lease: Sendable {
    package let customers: [LeasedHistoryJob]
    /// Rows that were due and are done without being asked about: a history that is stored holds their ids.
    package let settled: Int
  }

  /// Leases up to `limit` customers with rows that are due; to be committed before Apple is asked.
  ///
  /// A customer of whom any row is leased is left alone, so that two processes never ask about one customer at once; but
  /// what nobody has begun is taken over for whoever waits, and is begun by that.
  /// Rows whose id is in a history that was stored already are done by that.
  package static func lease(
    _ selection: Selection, limit: Int, until end: Timestamp, owner: [UInt8], at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> Lease {
    let scope = selection.scope
    var last: [Kind: HistoryJob] = [:]
    var (customers, covered): (PendingCustomers, [Int64])
    var pagesLeft = pages
    repeat {
      let due = try dueRows(selection, after: last, limit: limit, at: now, in: session)
      guard !due.isEmpty else { return Lease(customers: [], settled: 0) }
      customers = try PendingCustomers(of: due, in: scope, session)
      covered = try customers.covered(in: scope, session)
      try settle(covered, .done, reason: "in a history that was stored", at: now, in: session)
      customers.remove(covered)
      // Put off, so that what is left to another queue does not stand in the way of those behind it.
      let others = try customers.gatherOthers(for: selection, at: now, session)
      try update(
        others, "due_at = \(now + .minutes(1))", where: "state = 0 AND due_at <= \(now)", in: session)
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
        UPDATE \(Table.work.by("PRIMARY")) SET owner = \(owner), due_at = \(end), begun = \(isBegun)
        WHERE id IN (\(list: wanted)) AND state = 0 AND (due_at <= \(now) OR owner IS NULL OR begun < \(isUrgent))
        """)
      for row in try session.query(
        """
        SELECT id, attempts FROM \(Table.work.by("PRIMARY"))
        WHERE id IN (\(list: wanted)) AND owner = \(owner) AND due_at = \(end)
        """)
      {
        ours[try row.int64("id")] = try row.int("attempts")
      }
    }
    let reports = try UnconfirmedChangeTable.counts(
      of: customers.groups.values.joined().filter(\.kind.isClaimed).map(\.subject), in: scope, session)
    let revisions = try HistoryTable.revisions(
      of: customers.groups.values.joined().filter(\.isAgain).map(\.subject), in: scope, session)
    var leased: [LeasedHistoryJob] = []
    for rows in customers.groups.values {
      // Somebody else was faster with a part of the customer: all of it is theirs.
      guard let first = rows.first, rows.allSatisfy({ ours[$0.id] != nil }) else {
        try release(rows.map(\.id).filter { ours[$0] != nil }, owner: owner, at: now, in: session)
        continue
      }
      leased.append(
        LeasedHistoryJob(
          scope: scope, subject: first.subject, attempt: 1 + (ours[first.id] ?? 0),
          revision: revisions[first.subject], unknownIn: first.unknownIn, isBegun: selection.goesAtOnce,
          leasedAt: now, rows: rows.map(\.id), row: first.id, owner: owner,
          claimed: rows.filter(\.kind.isClaimed).map {
            ClaimedLookUp(row: $0.id, originalTransactionID: $0.subject, reports: reports[$0.subject] ?? 0)
          }, isUnverifiedAlone: rows.allSatisfy { $0.kind == .unverifiedID }))
    }
    return Lease(customers: leased, settled: covered.count)
  }

  /// Gives rows back as they were.
  ///
  /// - Parameter reason: why they are put off; nil where there is none, or none that is new.
  static func release(
    _ rows: [Int64], owner: [UInt8], at due: Timestamp, because reason: String? = nil, in session: borrowing Session
  ) throws(DatabaseError) {
    try update(
      rows, "owner = NULL, due_at = \(due), reason = COALESCE(\(reason?.cut(to: 255)), reason)",
      where: "owner = \(owner) AND state = 0", in: session)
  }

  /// How many times in a row one lease reads on where it found nobody but customers who are leased elsewhere.
  private static let pages = 8

  private static func dueRows(
    _ selection: Selection, after last: [Kind: HistoryJob], limit: Int, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) -> [HistoryJob] {
    var rows: [HistoryJob] = []
    for kind in selection.queue.kinds where rows.count < limit {
      rows += try dueRows(kind, selection, after: last[kind], limit: limit - rows.count, at: now, in: session)
    }
    return rows
  }

  private static func dueRows(
    _ kind: Kind, _ selection: Selection, after last: HistoryJob?, limit: Int, at now: Timestamp,
    in session: borrowing Session
  ) throws(DatabaseError) -> [HistoryJob] {
    let scope = selection.scope
    // While a server's statistics are older than the rows, it reads a whole queue for one subject.
    let rows = selection.subjects.map { Table.work.each($0, in: scope) } ?? Table.work.by("in_order")
    // Whoever names an id does not wait for the end of a pause, nor behind what others have put by for later.
    let evenLater: SQL = selection.subjects == nil ? "" : "OR owner IS NULL OR begun = 0"
    var find: SQL = """
      SELECT id, kind, subject, is_again, unknown_in, due_at FROM \(rows)
      WHERE \(in: scope) AND kind = \(kind.rawValue) AND state = 0 AND (due_at <= \(now) \(evenLater))
      """
    if let last { find += " AND due_at >= \(last.dueAt) AND (due_at > \(last.dueAt) OR id > \(last.id))" }
    var due: [HistoryJob] = []
    for row in try session.query(find + " ORDER BY due_at, id LIMIT \(limit)") {
      due.append(try HistoryJob(row))
    }
    return due
  }
}

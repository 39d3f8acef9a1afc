package import Database
import Purchases
package import Time

extension HistoryJobTable {
  package enum Queue: Hashable, Sendable, CaseIterable {
    /// New IDs, and lookups for callers.
    case requested
    /// Unsigned reports: known customers first, then IDs without signed data.
    case claimed
    /// Unproven IDs that back ends submitted.
    case unverified

    package var kindOfIDs: Kind {
      switch self {
      case .requested: .history
      case .claimed: .claimedID
      case .unverified: .unverifiedID
      }
    }

    var kinds: [Kind] {
      switch self {
      case .requested: [.history]
      case .claimed: Kind.claimed
      case .unverified: [.unverifiedID]
      }
    }
  }

  package struct Selection: Sendable {
    package let scope: AppScope
    package let queue: Queue
    /// Only customers with one of these IDs, for a waiting caller.
    ///
    /// `nil`: all.
    package let subjects: [String]?
    /// Whether the request begins as soon as the lease is committed, which counts as its beginning.
    package let goesAtOnce: Bool

    /// Whether leases that have not begun are taken over.
    var isUrgent: Bool { subjects != nil }

    package init(_ scope: AppScope, _ queue: Queue = .requested, goesAtOnce: Bool = false) {
      self.scope = scope
      self.queue = queue
      self.goesAtOnce = goesAtOnce
      subjects = nil
    }

    /// Selects these IDs for a waiting caller.
    package init(_ scope: AppScope, _ queue: Queue = .requested, subjects: [String]) {
      self.scope = scope
      self.queue = queue
      self.subjects = subjects
      // Unproven data waits for its share of the budget. Until then a caller with a proof can take it over.
      goesAtOnce = queue == .requested
    }
  }

  package struct Lease: Sendable {
    package let customers: [LeasedHistoryJob]
    /// Due rows that are done without a lookup: a stored history holds their IDs.
    package let settled: Int
  }

  /// Leases up to `limit` customers with due rows.
  ///
  /// Commit before the request to Apple. A customer with a leased row is skipped, so that two processes never look it
  /// up concurrently. A waiting caller takes over leases that have not begun. Rows whose ID is in a stored history
  /// become done.
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
      // Delayed, so that rows of another queue do not block later ones.
      let others = try customers.gatherOthers(for: selection, at: now, session)
      try update(
        others, "due_at = \(now + .minutes(1))", where: "state = 0 AND due_at <= \(now)", in: session)
      for row in due { last[row.kind] = row }
      pagesLeft -= due.count == limit ? 1 : pages
      // Customers that other processes have leased must not block later ones.
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
      // Another process leased a part of the customer first, and keeps all of it.
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

  /// Releases rows unchanged.
  ///
  /// - Parameter reason: why they are delayed. `nil` without a new reason.
  static func release(
    _ rows: [Int64], owner: [UInt8], at due: Timestamp, because reason: String? = nil, in session: borrowing Session
  ) throws(DatabaseError) {
    try update(
      rows, "owner = NULL, due_at = \(due), reason = COALESCE(\(reason?.cut(to: 255)), reason)",
      where: "owner = \(owner) AND state = 0", in: session)
  }

  /// The maximum number of pages that one lease reads while all their customers are leased by other processes.
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
    // While a server's statistics are older than the rows, it would read a whole queue for one subject.
    let rows = selection.subjects.map { Table.work.each($0, in: scope) } ?? Table.work.by("in_order")
    // A caller with an ID neither waits for the end of a pause nor for delayed rows.
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

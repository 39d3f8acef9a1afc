import Database
import Purchases
import Signing
import Support
import Synchronization
import Testing
import Time

@testable import Ledger

/// What the statements of the way in, of look-ups and of work read at two sizes of the ledger.
///
/// It is the same, however many customers there are. Those of forwarding: `OutboxReadTests`.
@Suite struct `Hot statements read` {
  private static let sizes = HotSizes.sizes

  @Test func `no more rows the more customers there are`() async throws {
    let grown = try await GrownLedger()
    var (first, few) = (0, [String: RowsRead]())
    for size in Self.sizes {
      try await grown.grow(from: first, to: size)
      try await grown.count()
      first = size
      for (name, most, read) in try await measure(grown, size) {
        #expect(read.total <= most, "\(name) with \(size) customers: \(read)")
        if let before = few[name] {
          #expect(read.total <= before.total + before.total / 4 + 16, "\(name): \(before), then \(read)")
        }
        few[name] = read
      }
    }
    await grown.pool.close()
  }

  @Test(arguments: BelievedStatistics.allCases)
  func `no more rows where the server's statistics are`(_ statistics: BelievedStatistics) async throws {
    let size = Self.sizes[1]
    try await statistics.during(size) { (grown: GrownLedger) in
      // Tables that are opened again make MySQL forget the rows that came since it counted.
      for (name, most, read) in try await measure(grown, size, opensAgain: statistics != .old) {
        #expect(read.total <= most, "\(name): \(read)")
      }
    }
  }

  /// MariaDB cuts a value of a JSON_TABLE to the length of its column.
  @Test func `nothing of an id that merely begins like a longer one`() async throws {
    let grown = try await GrownLedger()
    try await grown.grow(from: 0, to: 1)
    let (scope, known) = (grown.scope, GrownLedger.original(0))
    let ids = [known] + (1...300).map { known + String(repeating: "0", count: $0) }
    let stored = try await grown.pool.read { session throws(DatabaseError) in
      let longest = String(repeating: "9", count: 64)
      _ = try session.execute(
        """
        INSERT INTO histories (app, environment, original_transaction_id, asked_at)
        VALUES (\(scope.app.number), \(scope.environment.code), \(longest), 1)
        """)
      let longer = (65...300).map { String(repeating: "9", count: $0) }
      return try HistoryTable.stored(Set(ids + longer), in: scope, session)
    }
    #expect(stored == [known])
    await grown.pool.close()
  }

  /// Each path, the most rows that it may read, and what it read.
  private func measure(
    _ grown: GrownLedger, _ size: Int, opensAgain: Bool = true
  ) async throws -> [(name: String, most: Int, read: RowsRead)] {
    let (pool, ledger, app, scope, now) = (grown.pool, grown.ledger, grown.app, grown.scope, GrownLedger.now)
    var figures: [(String, Int, RowsRead)] = []
    func note(_ name: String, most: Int, _ body: () async throws -> Void) async throws {
      figures.append((name, most, try await RowsRead.duringAll(of: pool, body)))
    }
    func leased(_ queue: WorkTable.Queue, subjects: [String]? = nil, limit: Int = 32) async throws -> [LeasedCustomer] {
      let selection =
        subjects.map { WorkTable.Selection(scope, subjects: $0) } ?? WorkTable.Selection(scope, queue)
      return try await pool.transaction { session throws(DatabaseError) in
        try WorkTable.lease(
          selection, limit: limit, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session
        ).customers
      }
    }

    let story = try SignedStory(customers: 4, periods: 2, first: size)
    let entries = try story.messages.map { try story.entry($0, for: app) }
    let count = entries.count
    try await note("taking in new customers", most: 80 * count) {
      let outcomes = try await ledger.append(entries)
      #expect(outcomes.allSatisfy { $0 == .stored })
    }
    try await note("hearing it again", most: 8 * count) {
      let outcomes = try await ledger.append(entries)
      #expect(outcomes.allSatisfy { $0 == .duplicate })
    }
    try await note("asking whether a receipt has news", most: 80 * count) {
      for case .accepted(let accepted) in entries.map(\.content) {
        let hasNews = try await ledger.hasNews(accepted.findings, app: app.id)
        #expect(!hasNews)
      }
    }
    let refused = (0..<32).map { number in
      let body = Array("refused \(size) \(number)".utf8)
      return Entry(
        InboxMessage(kind: .notification, body: body, receivedAt: now),
        .quarantined(Entry.Refusal(source: .legacy, code: "wrongSecret", detail: "", claimedApp: nil)))
    }
    try await note("setting aside", most: 8 * 32) {
      let outcomes = try await ledger.append(refused)
      #expect(outcomes.allSatisfy { $0 == .quarantined })
    }

    // As when the tests beside have pushed our tables out of the server's cache.
    if opensAgain { try await grown.openAgain() }
    let known = GrownLedger.original(size - 9)
    // MySQL reads its dictionary through the same counters when a session first uses a table.
    _ = try await ledger.dossiers(of: GrownLedger.original(size - 8), app: app, extent: .customers)
    for (name, id) in [
      ("by originalTransactionId", known), ("by transactionId", "2\(known)1"), ("by line item", "1\(known)0"),
      ("by user id", "user \(size - 9)"), ("by appTransactionId", "\(size - 9)"),
    ] {
      // The first of them opens the tables, which reads what the server knows of them.
      try await note("looking up \(name)", most: 240) {
        let found = try await ledger.dossiers(of: id, app: app, extent: .customers)
        #expect(found.first?.originalTransactionIDs == [known], "\(name)")
      }
    }
    try await note("looking up what nobody knows", most: 120) {
      let found = try await ledger.dossiers(of: "unknown", app: app, extent: .customers)
      #expect(found.isEmpty)
    }
    try await note("a slice for the comparison", most: 40 * 32) {
      let slice = try await ledger.slice(of: app, .sandbox, after: known, limit: 32)
      #expect(slice?.originalTransactionIDs.isEmpty == false)
    }
    try await note("a whole slice for the comparison", most: 30 * 200) {
      let slice = try await ledger.slice(of: app, .sandbox, after: nil, limit: 200)
      #expect(slice?.originalTransactionIDs.count == 200)
    }
    try await note("how notifications arrived", most: 12 * 20) {
      let told = (0..<20).map { number in
        Ledger.Told(
          notificationUUID: "e\(GrownLedger.original(size - 9 - number))0", digest: refused[number].message.digest)
      }
      let arrivals = try await ledger.arrivals(of: told, in: scope)
      #expect(arrivals.count == 20 && !arrivals.contains(nil), "\(arrivals)")
    }
    try await note("letting go of what was set aside", most: 8 * 32) {
      try await pool.transaction { session throws(DatabaseError) in
        try QuarantineTable.release(refused.map(\.message.digest), in: session)
      }
    }
    try await note("purging what was set aside", most: 16 * 8) {
      let purged = try await pool.transaction { session throws(DatabaseError) in
        try QuarantineTable.purge(receivedBefore: now + .milliseconds(1), code: nil, limit: 8, in: session)
      }
      #expect(purged == 8)
    }
    try await note("purging where nothing is old enough", most: 16 * 8) {
      let purged = try await pool.transaction { session throws(DatabaseError) in
        try QuarantineTable.purge(receivedBefore: now, code: nil, limit: 8, in: session)
      }
      #expect(purged == 0)
    }

    for queue in WorkTable.Queue.allCases {
      try await note("leasing what is \(queue)", most: 40 * 32) {
        let customers = try await leased(queue)
        #expect(customers.count == 32)
      }
    }
    var waitedFor: [LeasedCustomer] = []
    try await note("leasing for somebody who waits", most: 60) {
      waitedFor = try await leased(.requested, subjects: [known])
    }
    #expect(waitedFor.map(\.subject) == [known])
    let settled = try await leased(.requested)
    let settlements = settled.map { customer in
      (
        customer: customer,
        settlement: WorkTable.Settlement.stored(
          StoredHistory(
            environment: .sandbox, originalTransactionIDs: [customer.subject], transactionIDs: [], revision: "r"))
      )
    }
    try await note("settling", most: 40 * 32) {
      try await pool.transaction { session throws(DatabaseError) in
        try WorkTable.settle(settlements, at: now, in: session)
      }
    }
    try await note("beginning renewal checks", most: 40 * 32) {
      let begun = try await pool.transaction { session throws(DatabaseError) in
        try RenewalCheckTable.begin(in: scope, limit: 32, at: now, session)
      }
      #expect(begun.due == 32)
    }
    try await note("leasing consumption requests", most: 8 * 32) {
      let leased = try await pool.transaction { session throws(DatabaseError) in
        try ConsumptionTable.lease(
          limit: 32, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session)
      }
      #expect(leased.count == 32)
    }
    let job = try await asked(grown, (0..<32).map { GrownLedger.original($0) })
    try await note("noting what came of a migration's ids", most: 40 * 32) {
      let turn = try await pool.transaction { session throws(DatabaseError) in
        try MigrationHandOut(job: job, owner: .random(count: 16))
          .turn(backlog: 32, allowance: 0, until: now + .minutes(1), at: now, in: session)
      }
      #expect(turn.asked + turn.ended == 32)
    }
    try await note("handing out a migration's ids by customers", most: 80 * 32) {
      let turn = try await pool.transaction { session throws(DatabaseError) in
        _ = try session.execute("UPDATE migration_ids SET state = 0 WHERE job = \(job)")
        return try MigrationHandOut(job: job, owner: .random(count: 16))
          .turn(backlog: 64, allowance: 8, until: now + .hours(1), at: now + .minutes(2), in: session)
      }
      #expect(turn.handedOut > 0)
    }
    return figures
  }

  /// A new migration whose every id is being asked about, half of them in an environment that nobody said.
  private func asked(_ grown: GrownLedger, _ ids: [String]) async throws -> Int {
    let (app, now) = (grown.app, GrownLedger.now)
    return try await grown.pool.transaction { session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: now, in: session)
      let new = ids.enumerated().map { number, id in
        let id = MigrationStep.ID(environment: number % 2 == 0 ? .sandbox : nil, id: id)
        return MigrationIDTable.New(app: app.id, id: id, isActive: true)
      }
      _ = try MigrationIDTable.add(new, job: job, in: session)
      _ = try session.execute("UPDATE migration_ids SET state = 1 WHERE job = \(job)")
      return job
    }
  }
}

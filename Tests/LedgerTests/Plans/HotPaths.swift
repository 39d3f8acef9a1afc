@testable import Ledger

/// The paths of ingestion, of lookups and of work.
extension GrownLedger: FilledLedger {
  func run(_ paths: PlanCounter) async throws {
    let refused = (0..<32).map { number in
      LedgerEntry(
        InboxMessage(kind: .notification, body: Array("refused \(paths.size) \(number)".utf8), receivedAt: Self.now),
        .quarantined(LedgerEntry.QuarantineReason(source: .legacy, code: "wrongSecret", detail: "", claimedApp: nil)))
    }
    try await ingest(refused, paths)
    try await lookUp(refused, paths)
    try await release(refused, paths)
    try await lease(paths)
    try await migrate(paths)
  }

  private func ingest(_ refused: [LedgerEntry], _ paths: PlanCounter) async throws {
    let story = try SignedStory(customers: 4, periods: 2, first: paths.size)
    let entries = try story.messages.map { try story.entry($0, for: app) }
    let count = entries.count
    try await paths.path("ingesting new customers", most: 80 * count) {
      let outcomes = try await ledger.append(entries)
      #expect(outcomes.allSatisfy { $0 == .stored })
    }
    try await paths.path("ingesting it again", most: 8 * count) {
      let outcomes = try await ledger.append(entries)
      #expect(outcomes.allSatisfy { $0 == .duplicate })
    }
    try await paths.path("asking whether a receipt has news", most: 80 * count) {
      for case .accepted(let accepted) in entries.map(\.content) {
        let hasNews = try await ledger.hasNews(accepted.findings, app: app.id)
        #expect(!hasNews)
      }
    }
    try await paths.path("quarantining", most: 8 * 32) {
      let outcomes = try await ledger.append(refused)
      #expect(outcomes.allSatisfy { $0 == .quarantined })
    }
  }

  private func lookUp(_ refused: [LedgerEntry], _ paths: PlanCounter) async throws {
    let number = paths.size - 9
    let known = Self.original(number)
    // The server may have closed the tables. MySQL then forgets the rows that came since it counted.
    if paths.statistics != .old { try await BelievedStatistics.closeTables(of: pool) }
    // MySQL reads its dictionary through the same counters when a session first uses a table.
    _ = try await ledger.dossiers(of: Self.original(number + 1), app: app, extent: .customers)
    for (name, id) in [
      ("originalTransactionId", known), ("transactionId", "2\(known)1"), ("line item", "1\(known)0"),
      ("user ID", "user \(number)"), ("appTransactionId", "\(number)"),
    ] {
      // The first one opens the tables and reads their descriptions.
      try await paths.path("finding by \(name)", most: 240) {
        let found = try await ledger.dossiers(of: id, app: app, extent: .customers)
        #expect(found.first?.originalTransactionIDs == [known], "\(name)")
      }
    }
    try await paths.path("finding an unknown ID", most: 120) {
      let found = try await ledger.dossiers(of: "unknown", app: app, extent: .customers)
      #expect(found.isEmpty)
    }
    try await paths.path("a slice for the comparison", most: 40 * 32) {
      let slice = try await ledger.slice(of: app, .sandbox, after: known, limit: 32)
      #expect(slice?.originalTransactionIDs.isEmpty == false)
    }
    try await paths.path("a whole slice for the comparison", most: 30 * 200) {
      let slice = try await ledger.slice(of: app, .sandbox, after: nil, limit: 200)
      #expect(slice?.originalTransactionIDs.count == 200)
    }
    try await paths.path("how notifications arrived", most: 12 * 20) {
      let told = (0..<20).map {
        LedgerStore.Told(notificationUUID: "e\(Self.original(number - $0))0", digest: refused[$0].message.digest)
      }
      let arrivals = try await ledger.arrivals(of: told, in: scope)
      #expect(arrivals.count == 20)
      #expect(!arrivals.contains(nil), "\(arrivals)")
    }
  }

  private func release(_ refused: [LedgerEntry], _ paths: PlanCounter) async throws {
    try await paths.transaction("releasing from quarantine", most: 8 * 32) { session throws(DatabaseError) in
      try QuarantineTable.release(refused.map(\.message.digest), in: session)
    }
    for (name, later, count) in [("purging", 1, 8), ("purging where no message is old enough", 0, 0)] {
      try await paths.transaction(name, most: 16 * 8) { session throws(DatabaseError) in
        let purged = try QuarantineTable.purge(
          receivedBefore: Self.now + .milliseconds(Int64(later)), code: nil, limit: 8, in: session)
        #expect(purged == count)
      }
    }
  }

  private func lease(_ paths: PlanCounter) async throws {
    let (scope, now, known) = (scope, Self.now, Self.original(paths.size - 9))
    @Sendable func leased(
      _ selection: HistoryJobTable.Selection, _ session: Session
    ) throws(DatabaseError) -> [LeasedHistoryJob] {
      try HistoryJobTable.lease(
        selection, limit: 32, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session
      ).customers
    }
    for queue in HistoryJobTable.Queue.allCases {
      try await paths.transaction("leasing what is \(queue)", most: 40 * 32) { session throws(DatabaseError) in
        #expect(try leased(HistoryJobTable.Selection(scope, queue), session).count == 32)
      }
    }
    try await paths.transaction("leasing for a caller that waits", most: 60) { session throws(DatabaseError) in
      #expect(try leased(HistoryJobTable.Selection(scope, subjects: [known]), session).map(\.subject) == [known])
    }
    let settlements = try await pool.transaction { session throws(DatabaseError) in
      try leased(HistoryJobTable.Selection(scope, .requested), session).map { customer in
        let history = StoredHistory(
          environment: .sandbox, originalTransactionIDs: [customer.subject], transactionIDs: [], revision: "r")
        return (customer: customer, settlement: HistoryJobTable.Outcome.stored(history))
      }
    }
    try await paths.transaction("settling", most: 40 * 32) { session throws(DatabaseError) in
      try HistoryJobTable.settle(settlements, at: now, in: session)
    }
    try await paths.transaction("beginning renewal checks", most: 40 * 32) { session throws(DatabaseError) in
      #expect(try RenewalCheckTable.begin(in: scope, limit: 32, at: now, session).due == 32)
    }
    try await paths.transaction("leasing consumption requests", most: 8 * 32) { session throws(DatabaseError) in
      let leased = try ConsumptionTable.lease(
        limit: 32, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session)
      #expect(leased.count == 32)
    }
  }

  private func migrate(_ paths: PlanCounter) async throws {
    let now = Self.now
    let job = try await startMigration((0..<32).map(Self.original))
    try await paths.transaction("noting the results of a migration's IDs", most: 40 * 32) {
      session throws(DatabaseError) in
      let turn = try HistoryJobScheduler(job: job, owner: .random(count: 16))
        .turn(backlog: 32, allowance: 0, until: now + .minutes(1), at: now, in: session)
      #expect(turn.asked + turn.ended == 32)
    }
    try await paths.transaction("handing out a migration's IDs by customers", most: 80 * 32) {
      session throws(DatabaseError) in
      _ = try session.execute("UPDATE migration_ids SET state = 0 WHERE job = \(job)")
      let turn = try HistoryJobScheduler(job: job, owner: .random(count: 16))
        .turn(backlog: 64, allowance: 8, until: now + .hours(1), at: now + .minutes(2), in: session)
      #expect(turn.handedOut > 0)
    }
  }

  /// Starts a migration that looks up all its IDs, half of which name no environment.
  private func startMigration(_ ids: [String]) async throws -> Int {
    let app = app
    return try await pool.transaction { session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [], app: nil, environment: nil, settings: MigrationSettings(), by: "", at: Self.now, in: session)
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

/// Where the sources tell servers which index to use, and in which order to join.
@Suite struct `Forced indexes` {
  /// How many a file writes by hand; numbers may only fall.
  private static let byHand = [
    "Sources/Ledger/Answers/KnowledgeReading.swift": 3,
    "Sources/Ledger/BulkMigration/HistoryJobScheduler.swift": 10,
    "Sources/Ledger/BulkMigration/MigrationIDTable.swift": 1,
    "Sources/Ledger/BulkMigration/MigrationLeftovers.swift": 2,
    "Sources/Ledger/BulkMigration/UnfetchedIDs.swift": 4,
    "Sources/Ledger/Comparisons/ComparisonTable.swift": 1,
    "Sources/Ledger/Consumption/ConsumptionTable.swift": 2,
    "Sources/Ledger/Customers/CustomerMembers.swift": 2,
    "Sources/Ledger/Customers/PendingUserIDTable.swift": 1,
    "Sources/Ledger/Inbox/StoredMessage.swift": 1,
    "Sources/Ledger/Outbox/OutboxDue.swift": 2,
    "Sources/Ledger/Outbox/OutboxKeys.swift": 13,
    "Sources/Ledger/Outbox/OutboxLease.swift": 5,
    "Sources/Ledger/Outbox/OutboxMessages.swift": 1,
    "Sources/Ledger/Outbox/OutboxReport.swift": 6,
    "Sources/Ledger/Outbox/OutboxRevival.swift": 2,
    "Sources/Ledger/Outbox/OutboxSettlement.swift": 5,
    "Sources/Ledger/Outbox/OutboxSorting.swift": 7,
    "Sources/Ledger/Outbox/OutboxSweep.swift": 5,
    "Sources/Ledger/Outbox/OutboxTable.swift": 2,
    "Sources/Ledger/Outbox/OutboxTurn.swift": 3,
    "Sources/Ledger/Outbox/SetAsideForwarding.swift": 2,
    "Sources/Ledger/Rebuild/RebuildStaging.swift": 1,
    "Sources/Ledger/Reconciliation/Arrivals.swift": 1,
    "Sources/Ledger/Work/RenewalCheckTable.swift": 2,
  ]

  @Test func `are written in few places`() throws {
    var counts: [String: Int] = [:]
    for path in ProjectFile.paths(below: "Sources") where path.hasSuffix(".swift") {
      let count = try ProjectFile.text(path).matches(of: /FORCE INDEX|STRAIGHT_JOIN|JSON_TABLE/).count
      if count > 0 { counts[path] = count }
    }
    #expect((counts.removeValue(forKey: "Sources/Ledger/Table.swift") ?? 0) > 0)
    #expect((counts.removeValue(forKey: "Sources/Ledger/ListedRows.swift") ?? 0) > 0)
    for path in Set(counts.keys).union(Self.byHand.keys).sorted() {
      let (count, limit) = (counts[path] ?? 0, Self.byHand[path] ?? 0)
      let advice = count > limit ? "use Table" : "lower the number to \(count)"
      #expect(count == limit, "\(path): \(advice)")
    }
  }
}

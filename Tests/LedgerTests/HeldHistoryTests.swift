@testable import Ledger

@Suite struct `Ids that one history of Apple's held` {
  private static let now = Timestamp(1_780_000_000_000)

  private func history(_ ids: Set<String>) -> StoredHistory {
    StoredHistory(environment: .sandbox, originalTransactionIDs: ids, transactionIDs: [], revision: nil)
  }

  /// The histories in their order, each in a settlement of its own, and who is of the account of "3" then.
  private static let cases: [(histories: [Set<String>], account: Set<String>)] = [
    ([["1", "2", "3"]], ["1", "2", "3"]), ([["1", "2"], ["3", "4"]], ["3", "4"]),
    // Asked on from where it ended, a history names what has changed alone.
    ([["1", "2", "3"], ["3"]], ["1", "2", "3"]), ([["1", "2", "3"], ["3", "4"]], ["1", "2", "3", "4"]),
    ([["3"], ["5"], ["5", "3"]], ["3", "5"]), ([["1", "2"], ["3", "4"], ["2", "4"]], ["1", "2", "3", "4"]),
  ]

  @Test(arguments: cases.indices) func `are of one account`(place: Int) async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    let (histories, expected) = Self.cases[place]
    let known = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let app = try AppTable.add(bundleID: "com.example.held", appAppleID: nil, at: Self.now, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      for (number, ids) in histories.enumerated() {
        try HistoryTable.note([history(ids)], in: scope, at: Self.now + .minutes(Int64(number)), session)
      }
      return try LedgerStore.knowledge(of: ["3"], app: app, environment: .sandbox, in: session)
    }
    #expect(Set(known.originalTransactionIDs) == expected)
    // The whole account was asked about, whatever the last history named of it.
    #expect(Set(known.histories.values).count == 1)
    await pool.close()
  }

  /// MariaDB cuts a value of a JSON_TABLE to the length of its column.
  @Test func `are not found by longer IDs that begin with them`() async throws {
    let fixture = try await LedgerFixture()
    let scope = AppScope(app: fixture.app.id, environment: .sandbox)
    let known = "3100000"
    let ids = [known] + (1...300).map { known + String(repeating: "0", count: $0) }
    let stored = try await fixture.pool.read { session throws(DatabaseError) in
      for id in [known, String(repeating: "9", count: 64)] {
        _ = try session.execute(
          """
          INSERT INTO histories (app, environment, original_transaction_id, asked_at, held_with)
          VALUES (\(scope.app.number), \(scope.environment.code), \(id), 1, \(id))
          """)
      }
      let longer = (65...300).map { String(repeating: "9", count: $0) }
      return try HistoryTable.stored(Set(ids + longer), in: scope, session)
    }
    #expect(stored == [known])
    await fixture.pool.close()
  }
}

import Database
import Ledger
import Purchases
import Support
import Testing
import Time

@Suite struct `Ids that one history of Apple's held` {
  private static let now = Milliseconds(1_780_000_000_000)

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
      let scope = Scope(app: app.id, environment: .sandbox)
      for (number, ids) in histories.enumerated() {
        try HistoryTable.note([history(ids)], in: scope, at: Self.now + .minutes(Int64(number)), session)
      }
      return try Ledger.knowledge(of: ["3"], app: app, environment: .sandbox, in: session)
    }
    #expect(Set(known.originalTransactionIDs) == expected)
    // The whole account was asked about, whatever the last history named of it.
    #expect(Set(known.histories.values).count == 1)
    await pool.close()
  }
}

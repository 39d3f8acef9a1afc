package import Database
package import JSON
package import Ledger
import Runtime
package import Time

/// Records an operator's manual change at Apple in the ledger.
package struct NoteAppleChange: Sendable {
  private let scope: AppScope

  package init(_ scope: AppScope) { self.scope = scope }

  /// Queues the lookup of an ID that was, or may have been, changed.
  package func queueLookUp(of id: String, at now: Timestamp, on pool: Pool) async throws {
    // A stopped command must still queue the lookup.
    try await withCancellationShield {
      try await pool.transaction(replayable: true) { [scope] session throws(DatabaseError) in
        try RefreshAfterAPICall.queue([id], in: scope, changedAt: now, due: now, session)
      }
    }
  }

  /// Settles answered consumption requests about a transaction, and returns their number.
  package func consumption(
    _ answer: JSONObject, about transactionID: String, at now: Timestamp, on pool: Pool
  ) async throws -> Int {
    try await pool.transaction(replayable: true) { [scope] session throws(DatabaseError) in
      try ConsumptionTable.noteAnswered(
        answer, about: transactionID, in: scope, because: "by switchyard api consumption", at: now, session)
    }
  }
}

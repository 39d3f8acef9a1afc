package import Database
package import JSON
package import Ledger
import Runtime
package import Time

/// Notes in the ledger what an operator changed at Apple by hand.
package struct NoteAppleChange: Sendable {
  private let scope: AppScope

  package init(_ scope: AppScope) { self.scope = scope }

  /// Queues the look-up of an id of which something was, or may have been, changed.
  package func queueLookUp(of id: String, at now: Timestamp, on pool: Pool) async throws {
    // A command that is stopped leaves the look-up behind.
    try await withCancellationShield {
      try await pool.transaction(replayable: true) { [scope] session throws(DatabaseError) in
        try RefreshAfterAPICall.queue([id], in: scope, changedAt: now, due: now, session)
      }
    }
  }

  /// Settles Apple's consumption requests about a transaction that were answered; returns how many.
  package func consumption(
    _ answer: JSONObject, about transactionID: String, at now: Timestamp, on pool: Pool
  ) async throws -> Int {
    try await pool.transaction(replayable: true) { [scope] session throws(DatabaseError) in
      try ConsumptionTable.noteAnswered(
        answer, about: transactionID, in: scope, because: "by switchyard api consumption", at: now, session)
    }
  }
}

package import Database
import Ledger
package import Time

/// Deletes refused messages permanently.
package struct PurgeQuarantine: Sendable {
  private static let step = 1_000

  private let before: Timestamp
  private let code: String?

  package init(receivedBefore before: Timestamp, code: String? = nil) {
    self.before = before
    self.code = code
  }

  package func plan(on connection: Connection) async throws -> Int {
    try await connection.read { [before, code] session throws(DatabaseError) in
      try QuarantineTable.count(receivedBefore: before, code: code, in: session)
    }
  }

  /// Deletes the messages in steps, so that locks are short, and returns their number.
  ///
  /// A cancelled task stops after a step. The single audit entry is in the last step's transaction, or follows a
  /// cancellation.
  package func apply(by author: AuditContext, at now: Timestamp, on connection: Connection) async throws -> Int {
    var (deleted, isNoted) = (0, false)
    while !Task.isCancelled, !isNoted {
      let before = deleted
      let some = try await connection.transaction { session throws(DatabaseError) in
        let some = try QuarantineTable.purge(receivedBefore: self.before, code: code, limit: Self.step, in: session)
        if some < Self.step { try note(before + some, by: author, at: now, in: session) }
        return some
      }
      deleted += some
      isNoted = some < Self.step
    }
    if !isNoted {
      let total = deleted
      try await connection.transaction { session throws(DatabaseError) in
        try note(total, by: author, at: now, in: session)
      }
    }
    return deleted
  }

  private func note(
    _ count: Int, by author: AuditContext, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    try author.note("quarantine.purge", of: "quarantine", "\(count) of \(code ?? "any code")", at: now, in: session)
  }
}

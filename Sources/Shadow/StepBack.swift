import Database
import Ledger
import Rollout
import Time

/// A step back of the guard whose COMMIT got no answer: the database may have it, or not.
struct StepBack: Sendable {
  /// What is announced once it is known to be committed.
  let news: TakenBack
  /// The stage before.
  let stage: Stage
  /// The id of its audit entry: other processes' guards write entries that are alike but for it.
  let entry: Int64

  /// Whether it is in the database.
  func isCommitted(in session: borrowing Session) throws(DatabaseError) -> Bool {
    guard let record = try AuditTable.record(entry, in: session) else { return false }
    // A server that crashed may give the id of an entry that was rolled back to another one.
    return record.action == RolloutGuard.action.description && record.subject == news.app && record.at == news.at
  }
}

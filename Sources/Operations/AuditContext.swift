import Database
import Ledger
import Time

/// The author and reason of a change, for the audit.
///
/// Every operation has `plan`, the dry run, and `apply`, which makes the change and its audit entry in one transaction.
package struct AuditContext: Hashable, Sendable {
  package let name: String
  /// The author's own text.
  ///
  /// `nil` if the change needs no reason.
  package let reason: String?

  package init(_ name: String, because reason: String? = nil) {
    self.name = name
    self.reason = reason
  }

  /// Adds the audit entry of a change to its transaction.
  func note(
    _ action: StaticString, of subject: String, _ change: String, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    try AuditTable.note(
      action, of: subject, by: name, because: reason.map { "\(change): \($0)" } ?? change, at: now, in: session)
  }
}

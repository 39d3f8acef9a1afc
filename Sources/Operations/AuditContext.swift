import Database
import Ledger
import Time

/// Who changes something, and why: what the audit says beside what was changed.
///
/// Every operation is a value with a plan and an `apply`. `plan` reads what would change and changes nothing: it is the dry
/// run. `apply` makes the change and its audit entry in one transaction, on the word of an author.
package struct AuditContext: Hashable, Sendable {
  package let name: String
  /// In the author's own words; nil where the change says all there is to say.
  package let reason: String?

  package init(_ name: String, because reason: String? = nil) {
    self.name = name
    self.reason = reason
  }

  /// Adds the audit entry of a change, to the transaction that makes the change.
  func note(
    _ action: StaticString, of subject: String, _ change: String, at now: Timestamp, in session: borrowing Session
  ) throws(DatabaseError) {
    try AuditTable.note(
      action, of: subject, by: name, because: reason.map { "\(change): \($0)" } ?? change, at: now, in: session)
  }
}

import Database
import Signing

extension Batch {
  struct Refused {
    let message: InboxMessage
    let refusal: LedgerEntry.QuarantineReason
    let isFromApple: Bool
    let isOfApple: Bool
    let stored: BodyVault.Stored

    init(_ entry: LedgerEntry, _ refusal: LedgerEntry.QuarantineReason, _ stored: BodyVault.Stored) {
      self.stored = stored
      (message, isFromApple, isOfApple, self.refusal) = (entry.message, entry.isFromApple, entry.isOfApple, refusal)
    }
  }

  struct QuarantineResult {
    var before: Set<Digest> = []
    var full: Set<Digest> = []
  }

  func quarantine(
    _ refused: [Refused], _ usage: [QuarantineSource: QuarantineUsage], in session: borrowing Session
  ) throws(DatabaseError) -> QuarantineResult {
    guard !refused.isEmpty else { return QuarantineResult() }
    var aside = QuarantineResult()
    aside.before = try QuarantineTable.known(refused.map(\.message.digest), in: session)
    let new = refused.filter { !aside.before.contains($0.message.digest) }
    aside.full = Set(
      new.filter { refused in
        let source = refused.refusal.source
        return !(usage[source] ?? QuarantineUsage()).isBelow(source.quota(fromApple: refused.isFromApple))
      }.map(\.message.digest))
    let added = try QuarantineTable.insert(
      new.filter { !aside.full.contains($0.message.digest) }.map { ($0.message, $0.refusal, $0.stored) }, in: session)
    // Another sender may have posted Apple's message to another app's URL before. Operators search for Apple's reason.
    let moved = try QuarantineTable.rename(
      refused.filter { $0.isOfApple && aside.before.contains($0.message.digest) }.map { ($0.message, $0.refusal) },
      in: session)
    try QuarantineUsageTable.note(added: added.merging(moved.added) { $0 + $1 }, removed: moved.removed, in: session)
    return aside
  }
}

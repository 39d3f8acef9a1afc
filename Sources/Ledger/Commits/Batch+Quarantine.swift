import Database
import Signing

extension Batch {
  /// A message that is to be set aside.
  struct Refused {
    let message: InboxMessage
    let refusal: Entry.Refusal
    let isFromApple: Bool
    /// Whether it is Apple's: sent from its networks, or signed for the app.
    let isOfApple: Bool
    let stored: BodyVault.Stored

    init(_ entry: Entry, _ refusal: Entry.Refusal, _ stored: BodyVault.Stored) {
      self.stored = stored
      (message, isFromApple, isOfApple, self.refusal) = (entry.message, entry.isFromApple, entry.isOfApple, refusal)
    }
  }

  /// What became of the messages that are set aside.
  struct SetAside {
    /// Those that were kept before.
    var before: Set<Digest> = []
    /// Those for which there is no room.
    var full: Set<Digest> = []
    /// Those of Apple's that are kept in the place of another body of the same message.
    var replaced: Set<Digest> = []
  }

  /// Keeps what fits the quotas.
  func quarantine(
    _ refused: [Refused], _ elsewhere: StoredElsewhere, _ usage: [QuarantineSource: QuarantineUsage],
    in session: borrowing Session
  ) throws(DatabaseError) -> SetAside {
    guard !refused.isEmpty else { return SetAside() }
    var aside = SetAside()
    aside.before = try QuarantineTable.known(refused.map(\.message.digest), in: session).union(elsewhere.inQuarantine)
    let new = refused.filter { !aside.before.contains($0.message.digest) }
    aside.full = Set(
      new.filter { refused in
        let source = refused.refusal.source
        return !(usage[source] ?? QuarantineUsage()).isBelow(source.quota(fromApple: refused.isFromApple))
      }.map(\.message.digest))
    let added = try QuarantineTable.insert(
      new.filter { !aside.full.contains($0.message.digest) }.map { ($0.message, $0.refusal, $0.stored) }, in: session)
    // After the insert, which waits for others that insert the same message: now their copies are seen.
    let (replaced, change) = try replace(
      refused.filter { $0.isOfApple && !aside.full.contains($0.message.digest) }, in: session)
    aside.replaced = replaced
    try QuarantineUsageTable.note(
      added: added.merging(change.added) { $0 + $1 }, removed: change.removed, in: session)
    return aside
  }

  private typealias Usage = [QuarantineSource: QuarantineUsage]

  /// Keeps what is Apple's in the place of what somebody else sent as the same message, with the reason of Apple's.
  ///
  /// Quarantine knows a V1 notification without its password. A stranger who sends it first, with a password of their own or
  /// to another app's URL, must not have Apple's refused for that when it is replayed. A V2 notification may come from anybody
  /// who has it, with other white space or the other form of its signature: such a body changes nothing.
  private func replace(
    _ refused: [Refused], in session: borrowing Session
  ) throws(DatabaseError) -> (replaced: Set<Digest>, change: (added: Usage, removed: Usage)) {
    let copies = try QuarantineTable.copies(of: refused.map(\.message), bodies, in: session)
    var (replaced, added, removed): (Set<Digest>, Usage, Usage) = ([], [:], [:])
    for refused in refused.sorted(by: { $0.message.digest.bytes.lexicographicallyPrecedes($1.message.digest.bytes) }) {
      guard let copy = copies[refused.message.digest],
        copy.code != refused.refusal.code || (refused.isFromApple && !copy.isSame)
      else { continue }
      try QuarantineTable.replace(with: refused.message, refused.refusal, refused.stored, in: session)
      if !copy.isSame { replaced.insert(refused.message.digest) }
      added[refused.refusal.source, default: QuarantineUsage()].add(refused.message.body.count)
      if let source = copy.source { removed[source, default: QuarantineUsage()].add(copy.size) }
    }
    return (replaced, (added, removed))
  }
}

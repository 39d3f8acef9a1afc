package import Purchases
import Signing

/// Consecutive rows of a part, judged: what is written of them in one transaction, with the place up to which they go.
package struct MigrationStep: Sendable {
  /// Half a SHA-256: of a content, or of a user's id.
  package struct Mark: Hashable, Sendable {
    package let bytes: [UInt8]

    /// - Parameter digest: of at least 16 bytes.
    package init(_ digest: [UInt8]) { bytes = Array(digest.prefix(16)) }
  }

  /// An id by which Apple can be asked.
  package struct ID: Hashable, Sendable {
    package let environment: Environment?
    package let id: String

    package init(environment: Environment?, id: String) { (self.environment, self.id) = (environment, id) }
  }

  /// What a row with something of use in it came to.
  package struct Content: Sendable {
    package let digest: Mark
    package let user: Mark?
    package let place: MigrationAccountTable.CountScope
    /// Nil where nothing is to be written of it, as of a receipt without purchases.
    package let entry: LedgerEntry?
    /// What else the row holds, and ids alone with the row's user, where what is unsigned names them: an operator's table says
    /// whose they are.
    package let users: [LedgerEntry]
    package let ids: [ID]
    /// Whether the customer has something that has not ended, as far as it tells.
    package let isActive: Bool

    /// What is written of the row.
    var entries: [LedgerEntry] { entry.map { [$0] + users } ?? [] }

    /// The same with what the same row holds besides.
    package func joined(with other: Self) -> Self {
      let known = Set(ids)
      return Self(
        digest: Mark(Digest.sha256(digest.bytes + other.digest.bytes).bytes), user: user, place: place, entry: entry,
        users: users + [other.entry].compactMap(\.self) + other.users,
        ids: ids + other.ids.filter { !known.contains($0) }, isActive: isActive || other.isActive)
    }

    /// Whether it tells of a purchase, or of an id by which Apple can be asked.
    package var isUsable: Bool { !ids.isEmpty || entry?.findings?.purchases.isEmpty == false }

    package init(
      digest: Mark, user: Mark?, place: MigrationAccountTable.CountScope, entry: LedgerEntry?,
      users: [LedgerEntry] = [], ids: [ID],
      isActive: Bool
    ) {
      self.digest = digest
      self.user = user
      self.place = place
      self.entry = entry
      self.users = users
      self.ids = ids
      self.isActive = isActive
    }
  }

  package struct Reject: Sendable {
    package let reason: String
    package let line: Int
    /// Where the row is.
    package let place: SourcePosition
    /// Of whose app and environment it proves to be, if it does.
    package let owner: MigrationAccountTable.CountScope

    package init(reason: String, line: Int, place: SourcePosition, owner: MigrationAccountTable.CountScope) {
      self.reason = reason
      self.line = line
      self.place = place
      self.owner = owner
    }
  }

  package enum Row: Sendable {
    case content(Content)
    case rejected(Reject)

    var entries: [LedgerEntry] { if case .content(let content) = self { content.entries } else { [] } }
  }

  /// As it is before the step.
  package let part: MigrationPart
  package let rows: [Row]
  /// As it is after the step.
  package let end: SourcePosition
  /// Of the input as it lies there.
  package let bytesRead: Int64
  /// Whether nothing follows.
  package let isLast: Bool

  package init(part: MigrationPart, rows: [Row], end: SourcePosition, bytesRead: Int64, isLast: Bool) {
    self.part = part
    self.rows = rows
    self.end = end
    self.bytesRead = bytesRead
    self.isLast = isLast
  }

  /// What became of a step.
  package enum Outcome: Hashable, Sendable {
    /// It is in the ledger.
    case written
    /// The job does not run any more: nothing was written.
    case halted
    /// Another process reads the part by now: nothing was written.
    case lost
  }
}

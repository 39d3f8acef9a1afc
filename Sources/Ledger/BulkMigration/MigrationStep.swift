package import Purchases
import Signing

/// Consecutive rows of a part, judged, with their end position.
///
/// They are written in one transaction.
package struct MigrationStep: Sendable {
  /// Half a SHA-256 of a content or of a user's ID.
  package struct Mark: Hashable, Sendable {
    package let bytes: [UInt8]

    /// - Parameter digest: at least 16 bytes.
    package init(_ digest: [UInt8]) { bytes = Array(digest.prefix(16)) }
  }

  package struct ID: Hashable, Sendable {
    package let environment: Environment?
    package let id: String

    package init(environment: Environment?, id: String) { (self.environment, self.id) = (environment, id) }
  }

  package struct Content: Sendable {
    package let digest: Mark
    package let user: Mark?
    package let place: MigrationAccountTable.CountScope
    /// `nil` if there is nothing to write, as with a receipt without purchases.
    package let entry: LedgerEntry?
    /// Further entries of the row.
    ///
    /// Unsigned data is reduced to IDs with the row's user.
    package let users: [LedgerEntry]
    package let ids: [ID]
    /// Whether the customer has an unexpired purchase, by the row's data.
    package let isActive: Bool

    var entries: [LedgerEntry] { entry.map { [$0] + users } ?? [] }

    package func joined(with other: Self) -> Self {
      let known = Set(ids)
      return Self(
        digest: Mark(Digest.sha256(digest.bytes + other.digest.bytes).bytes), user: user, place: place, entry: entry,
        users: users + [other.entry].compactMap(\.self) + other.users,
        ids: ids + other.ids.filter { !known.contains($0) }, isActive: isActive || other.isActive)
    }

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
    package let place: SourcePosition
    /// The app and environment that the row proves, if any.
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

  package let part: MigrationPart
  package let rows: [Row]
  package let end: SourcePosition
  /// The number of bytes read from the stored input, before decompression.
  package let bytesRead: Int64
  package let isLast: Bool

  package init(part: MigrationPart, rows: [Row], end: SourcePosition, bytesRead: Int64, isLast: Bool) {
    self.part = part
    self.rows = rows
    self.end = end
    self.bytesRead = bytesRead
    self.isLast = isLast
  }

  package enum Outcome: Hashable, Sendable {
    case written
    /// The job no longer runs.
    ///
    /// The transaction wrote nothing.
    case halted
    /// Another process reads the part.
    ///
    /// The transaction wrote nothing.
    case lost
  }
}

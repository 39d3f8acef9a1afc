import Database
import Signing

/// `migration_receipts` and `migration_links`: the contents that a job has read, and their users.
enum MigrationReceiptTable {
  enum ContentStatus: Hashable {
    case new
    /// Seen before without a user.
    case firstUser
    /// Seen before with another user.
    case furtherUser
    case known
  }

  private static let insert = BulkInsert(
    into: "INSERT INTO migration_receipts (job, digest, mark, first_user, message) VALUES",
    then: "ON DUPLICATE KEY UPDATE digest = VALUES(digest)", repeatsLast: true)

  private static let insertLink = BulkInsert(
    into: "INSERT INTO migration_links (job, digest, user) VALUES",
    then: "ON DUPLICATE KEY UPDATE user = VALUES(user)")

  private static let setFirst = BulkInsert(
    into: "INSERT INTO migration_receipts (job, digest, mark, first_user) VALUES",
    then: "ON DUPLICATE KEY UPDATE first_user = VALUES(first_user)")

  /// Records the contents in their order, and returns the earlier status of each.
  ///
  /// A concurrent writer of the same content waits here: the row is locked before its users are read.
  static func note(
    _ contents: [MigrationStep.Content], job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [ContentStatus] {
    guard !contents.isEmpty else { return [] }
    let ours = [UInt8].random(count: 8)
    let digests = Set(contents.map(\.digest.bytes))
    // A new content is written with its first user. An existing one keeps its user.
    let brought = Dictionary(
      contents.compactMap { content in (content.user?.bytes).map { (content.digest.bytes, $0) } }
    ) { first, _ in first }
    // The first is the new one, whose entry is written.
    let messages = Dictionary(
      contents.compactMap { content in (content.entry?.message.digest.bytes).map { (content.digest.bytes, $0) } }
    ) { first, _ in first }
    let rows: [[SQLValue]] = digests.map { digest in
      [
        .integer(Int64(job)), .bytes(digest), .bytes(ours), brought[digest].map(SQLValue.bytes) ?? .null,
        messages[digest].map(SQLValue.bytes) ?? .null,
      ]
    }
    _ = try session.insert(insert, rows: rows.inKeyOrder(columns: 2))
    var (new, first): (Set<[UInt8]>, [[UInt8]: [UInt8]]) = ([], [:])
    for digests in Array(digests).parts() {
      for row in try session.query(
        "SELECT digest, mark, first_user FROM \(Table.migrationReceipts.each(digests)) AND job = \(job)")
      {
        let digest = try row.bytes("digest")
        if try row.bytes("mark") == ours {
          new.insert(digest)
        } else {
          first[digest] = try row.optionalBytes("first_user")
        }
      }
    }
    var users = try links(of: contents.map(\.digest.bytes).filter { !new.contains($0) }, job: job, in: session)
    for (digest, user) in first { users[digest, default: []].insert(user) }
    let written = new
    var (standings, firsts, further): ([ContentStatus], [[UInt8]: [UInt8]], [[SQLValue]]) = ([], [:], [])
    for content in contents {
      let digest = content.digest.bytes
      let isNew = new.remove(digest) != nil
      guard let user = content.user?.bytes, users[digest]?.contains(user) != true else {
        standings.append(isNew ? .new : .known)
        continue
      }
      let isFirst = users[digest, default: []].isEmpty
      users[digest, default: []].insert(user)
      if isFirst {
        if !written.contains(digest) { firsts[digest] = user }
      } else {
        further.append([.integer(Int64(job)), .bytes(digest), .bytes(user)])
      }
      standings.append(isNew ? .new : isFirst ? .firstUser : .furtherUser)
    }
    let set: [[SQLValue]] = firsts.map { [.integer(Int64(job)), .bytes($0.key), .bytes(ours), .bytes($0.value)] }
    _ = try session.insert(setFirst, rows: set.inKeyOrder(columns: 2))
    _ = try session.insert(insertLink, rows: further.inKeyOrder(columns: 3))
    return standings
  }

  private static func links(
    of digests: [[UInt8]], job: Int, in session: borrowing Session
  ) throws(DatabaseError) -> [[UInt8]: Set<[UInt8]>] {
    var users: [[UInt8]: Set<[UInt8]>] = [:]
    for digests in Array(Set(digests)).parts() {
      for row in try session.query("SELECT digest, user FROM \(Table.migrationLinks.each(digests)) AND job = \(job)") {
        users[try row.bytes("digest"), default: []].insert(try row.bytes("user"))
      }
    }
    return users
  }
}

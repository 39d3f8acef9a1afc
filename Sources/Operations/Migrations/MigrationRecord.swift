package import Database
package import Ledger
import Purchases
package import Time

package struct MigrationRecord: Sendable {
  package let job: MigrationJob
  package let bundleID: String?
  package let accounts: MigrationCounts
  /// The counts by bundle ID and environment, "" if unknown.
  package let places: [(app: String, environment: String, accounts: MigrationCounts)]
  package let parts: [MigrationPartReport]
  /// The number of IDs that were not handed out and have no other lookup.
  package let unasked: Int
  /// Whether it runs and no process has worked on it recently.
  package let isUnattended: Bool
  /// Whether it runs and a process hands out its IDs without being blocked.
  let isWorkedOn: Bool

  /// The time that a job may lack a process before a report.
  ///
  /// A service looks for new jobs every second.
  private static let grace = Interval.seconds(5)

  /// The number of rows in the sources: exact once every part was read, otherwise an estimate, or `nil` if unknown.
  package var expectedRows: Int? {
    if parts.allSatisfy(\.isDone) { return accounts.rows }
    let read = parts.reduce(0) { $0 + $1.bytesRead }
    guard read > 0, accounts.rows > 0, parts.allSatisfy({ $0.isDone || $0.size != nil }) else { return nil }
    let size = parts.reduce(0) { $0 + ($1.isDone ? $1.bytesRead : max($1.size ?? 0, $1.bytesRead)) }
    return max(accounts.rows, Int(Double(accounts.rows) * Double(size) / Double(read)))
  }

  /// The unfinished rest of a cancelled job, with the command to get it, or `nil`.
  package var rest: String? {
    let unread = job.state == .cancelled ? parts.count { !$0.isDone } : 0
    guard unasked > 0 || unread > 0 else { return nil }
    return """
      Apple was not asked about \(unasked) ids, and \(unread) of \(parts.count) parts were not read to their end. Begin a \
      migration of the same sources to get both; `switchyard migrate report \(job.id) --limit 100000` lists the ids
      """
  }

  package static func unattended(at now: Timestamp, in session: borrowing Session) throws(DatabaseError) -> [Int] {
    var ids: [Int] = []
    for job in try MigrationJobTable.all(in: session) where job.state == .running {
      guard let record = try MigrationRecord(job.id, at: now, in: session), record.isUnattended,
        record.holdUp(byFile: nil, at: now) == nil
      else { continue }
      ids.append(job.id)
    }
    return ids
  }

  /// Returns the record.
  ///
  /// Throws `NoSuchMigration`.
  package static func find(_ id: Int, at now: Timestamp, _ connection: Connection) async throws -> Self {
    let record = try await connection.read { session throws(DatabaseError) in
      try MigrationRecord(id, at: now, in: session)
    }
    guard let record else { throw NoSuchMigration(id: id) }
    return record
  }

  private init?(_ id: Int, at now: Timestamp, in session: borrowing Session) throws(DatabaseError) {
    guard let job = try MigrationJobTable.find(id, in: session) else { return nil }
    let (all, byPlace) = try MigrationAccountTable.read(id, in: session)
    let apps = try AppTable.all(includingRemoved: true, in: session)
    let names = Dictionary(apps.map { ($0.id, $0.bundleID) }) { first, _ in first }
    self.job = job
    bundleID = job.app.flatMap { names[$0] }
    accounts = all
    places = byPlace.map { place, accounts in
      (place.app.flatMap { names[$0] } ?? "", place.environment?.rawValue ?? "", accounts)
    }.sorted { ($0.app, $0.environment) < ($1.app, $1.environment) }
    parts = try MigrationPartTable.reports(of: id, at: now, in: session)
    let latest = try MigrationPartTable.latestLease(of: id, in: session)
    let handedOutUntil = try MigrationPartTable.handOutLease(of: id, in: session)
    isUnattended = job.state == .running && (latest ?? job.createdAt) + Self.grace < now
    isWorkedOn = job.state == .running && handedOutUntil.map { $0 > now } ?? false
    // Counted only for a final job: the query reads every waiting ID.
    unasked = job.state == .cancelled ? try UnfetchedIDs.count(of: id, in: session) : 0
  }
}

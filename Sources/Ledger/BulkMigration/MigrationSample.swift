package import Database
import Purchases
import Signing
import Time

/// The receipts that may be a bulk migration's, in the order of their digests.
///
/// That order has to do with nothing that a receipt says: from any place on, the next ones are as good as drawn by lot. A
/// receipt is stored as of the job that brought it first, so that those of other jobs are among them: `isOf` tells them apart.
package struct MigrationSample: Sendable {
  /// Of one page of what came with jobs.
  package let receipts: [InboxListing]
  /// Behind what the next page begins; nil after the last page.
  package let end: [UInt8]?

  /// Messages that are looked at together.
  private static let page = 1_000

  /// - Parameters:
  ///   - start: of the page, which begins behind it.
  ///   - last: where it ends at the latest; nil: with the inbox.
  package static func page(
    of job: MigrationJob, in scope: Scope, after start: [UInt8], upTo last: [UInt8]? = nil,
    in session: borrowing Session
  ) throws(DatabaseError) -> Self {
    let end = last ?? [UInt8](repeating: 0xFF, count: Digest.count)
    var listed: [InboxListing] = []
    for date in try dates(of: job, in: scope, session) {
      listed += try InboxTable.list(at: date, after: start, upTo: end, limit: page, in: session)
    }
    // What is behind the last one here may be before what one date has further back.
    listed = Array(listed.sorted { $0.digest.bytes.lexicographicallyPrecedes($1.digest.bytes) }.prefix(page))
    let receipts = listed.filter { listing in
      listing.kind == .evidence && listing.title.hasPrefix("receipt of ")
        && Scope(app: listing.app, environment: listing.environment) == scope
    }
    return Self(receipts: receipts, end: listed.count < page ? nil : listed.last?.digest.bytes)
  }

  /// Whether the job brought a receipt, whichever job was the first to do so.
  package static func isOf(
    _ job: Int, _ receipt: [UInt8], in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    let mark = MigrationStep.Mark(Digest.sha256(receipt).bytes)
    return try !session.query("SELECT 1 FROM migration_receipts WHERE job = \(job) AND digest = \(mark.bytes)").isEmpty
  }

  /// As of when a job's receipts may be stored: as of its own beginning, and of jobs that had begun when it ended.
  private static func dates(
    of job: MigrationJob, in scope: Scope, _ session: borrowing Session
  ) throws(DatabaseError) -> Set<Milliseconds> {
    let others = try MigrationJobTable.all(in: session).filter { other in
      (other.app ?? scope.app) == scope.app && other.createdAt <= job.finishedAt ?? other.createdAt
    }
    return Set(others.map(\.createdAt)).union([job.createdAt])
  }
}

package import Database
import Purchases
import Signing
import Time

/// The receipts that a bulk migration brought first, in the order of their digests.
///
/// That order has to do with nothing that a receipt says: from any place on, the next ones are as good as drawn by lot.
package struct MigrationSample: Sendable {
  /// Of one page of what came with the job.
  package let receipts: [InboxListing]
  /// Behind what the next page begins; nil after the last page.
  package let end: [UInt8]?

  /// Messages that are looked at in one statement.
  private static let page = 1_000

  /// - Parameters:
  ///   - start: of the page, which begins behind it.
  ///   - last: where it ends at the latest; nil: with the inbox.
  package static func page(
    of job: MigrationJob, in scope: Scope, after start: [UInt8], upTo last: [UInt8]? = nil,
    in session: borrowing Session
  ) throws(DatabaseError) -> Self {
    let end = last ?? [UInt8](repeating: 0xFF, count: Digest.count)
    let listed = try InboxTable.list(at: job.createdAt, after: start, upTo: end, limit: page, in: session)
    let receipts = listed.filter { listing in
      listing.kind == .evidence && listing.title.hasPrefix("receipt of ")
        && Scope(app: listing.app, environment: listing.environment) == scope
    }
    return Self(receipts: receipts, end: listed.count < page ? nil : listed.last?.digest.bytes)
  }
}

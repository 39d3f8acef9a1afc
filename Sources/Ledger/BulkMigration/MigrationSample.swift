package import Database
import Purchases
import Signing

/// Receipts of a bulk migration, in the order of the digests of their contents.
///
/// That order has nothing to do with what a receipt says: from any position on, the next ones are a random sample. Only
/// rows of the job are read, however many receipts other jobs or the service stored.
package struct MigrationSample: Sendable {
  /// The receipts of one page that are of the app and environment.
  package let receipts: [InboxListing]
  /// Contents whose message is not known, or not in the inbox under its digest: without a purchase, or stored by an earlier
  /// build.
  package let withoutMessage: Int
  /// Where the next page begins; nil after the last page.
  package let end: [UInt8]?

  /// The bytes of a position.
  package static let width = 16

  /// Returns the page behind a position.
  ///
  /// - Parameters:
  ///   - start: where the page begins, itself left out.
  ///   - last: where it ends at the latest; nil: with the job.
  ///   - limit: contents of the job that are read.
  package static func page(
    of job: Int, in scope: AppScope, after start: [UInt8], upTo last: [UInt8]? = nil, limit: Int = 1_000,
    in session: borrowing Session
  ) throws(DatabaseError) -> Self {
    let end = last ?? [UInt8](repeating: 0xFF, count: width)
    let rows = try session.query(
      """
      SELECT digest, message FROM \(Table.migrationReceipts.by("PRIMARY"))
      WHERE job = \(job) AND digest > \(start) AND digest <= \(end) ORDER BY digest LIMIT \(limit)
      """)
    var messages: [Digest] = []
    for row in rows {
      if let digest = try row.optionalBytes("message").flatMap({ Digest(bytes: $0) }) { messages.append(digest) }
    }
    let listed = try InboxTable.list(messages, in: session)
    let receipts = listed.filter { listing in
      // A receipt may have come to verifyReceipt before the job read it.
      (listing.kind == .evidence || listing.kind == .verifiedReceipt) && listing.title.hasPrefix("receipt of ")
        && AppScope(app: listing.app, environment: listing.environment) == scope
    }
    let position = try rows.last?.bytes("digest")
    return Self(
      receipts: receipts, withoutMessage: rows.count - listed.count, end: rows.count < limit ? nil : position)
  }
}

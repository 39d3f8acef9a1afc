package import Database
import Purchases
import Signing

/// Receipts of a bulk migration, in the order of the digests of their contents.
///
/// That order is independent of the data, so any page is a random sample.
package struct MigrationSample: Sendable {
  package let receipts: [InboxListing]
  /// The number of contents without a message in the inbox: they have no purchase, or an earlier build stored them.
  package let withoutMessage: Int
  /// The position of the next page.
  ///
  /// `nil` after the last page.
  package let end: [UInt8]?

  package static let width = 16

  /// Returns the page after a position.
  ///
  /// - Parameters:
  ///   - start: the position before the page.
  ///   - last: the last possible position of the page. `nil`: the end of the job.
  ///   - limit: the maximum number of the job's contents to read.
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

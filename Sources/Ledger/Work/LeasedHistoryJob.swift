import Database
package import Purchases
package import Time

/// A customer that only this process looks up, until the lease ends.
package struct LeasedHistoryJob: Sendable {
  package let scope: AppScope
  package let subject: String
  /// The number of attempts with a failed response, this one included.
  ///
  /// An expired lease does not count.
  package let attempt: Int
  /// The revision of an earlier history of the ID.
  ///
  /// Apple returns later changes.
  package let revision: String?
  /// The environment that does not know the ID, while the other has not responded.
  package var unknownIn: Environment?
  /// Whether the lease recorded that the request begins now.
  package let isBegun: Bool
  package let leasedAt: Timestamp
  /// The customer's leased rows, the subject's included.
  let rows: [Int64]
  let row: Int64
  let owner: [UInt8]
  let claimed: [ClaimedLookUp]

  /// Whether only unproven IDs need the lookup.
  package let isUnverifiedAlone: Bool

  /// Whether only unsigned messages need the lookup.
  package var isClaimedAlone: Bool { claimed.count == rows.count }
}

/// A row that waits because of unsigned reports, with the number of reports that this lookup covers.
struct ClaimedLookUp: Sendable {
  let row: Int64
  let originalTransactionID: String
  /// At the time of the lease: Apple's response settles all earlier reports.
  let reports: Int
}

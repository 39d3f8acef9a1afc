import Database
package import Purchases
package import Time

/// A customer of whom this process alone asks Apple, until the lease ends.
package struct LeasedHistoryJob: Sendable {
  package let scope: AppScope
  /// The id to ask by.
  package let subject: String
  /// How often it was tried and an answer failed, this time included; a lease that ended by itself was no attempt.
  package let attempt: Int
  /// Where an earlier history of the id ended; Apple tells what changed since.
  package let revision: String?
  /// Where Apple said that it knows no such id, while the other environment has not answered.
  package var unknownIn: Environment?
  /// Whether the lease noted that Apple is asked about them now.
  package let isBegun: Bool
  package let leasedAt: Timestamp
  /// The rows of the customer that are leased, the subject's among them.
  let rows: [Int64]
  let row: Int64
  let owner: [UInt8]
  /// Of these rows, those that wait because of something claimed.
  let claimed: [ClaimedLookUp]

  /// Whether nothing but ids that nothing proves wants it.
  package let isUnverifiedAlone: Bool

  /// Whether nothing but unsigned messages wants this look-up.
  package var isClaimedAlone: Bool { claimed.count == rows.count }
}

/// A row that waits because of what unsigned messages reported, and how many reports this look-up answers.
struct ClaimedLookUp: Sendable {
  let row: Int64
  let originalTransactionID: String
  /// As of the lease: whatever was reported before it, Apple's answer settles.
  let reports: Int
}

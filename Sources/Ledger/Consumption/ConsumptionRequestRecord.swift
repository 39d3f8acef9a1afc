package import JSON
package import Signing
package import Time

package struct ConsumptionRequestRecord: Hashable, Sendable {
  /// The state, with its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    case answered
    /// Deliberately not answered.
    case declined
    /// The 12 hours are over.
    case expired
    case refused
    /// The V1 body does not name its purchase.
    ///
    /// Only an operator can find it.
    case unnamed
    /// Only a V1 body asks, which every holder of the app's shared secret can create.
    ///
    /// An operator decides about the response.
    case claimed

    package var name: String { "\(self)" }
  }

  /// Apple expects the response within 12 hours of the request.
  package static let term = Interval.hours(12)

  package let scope: AppScope
  /// The notification's UUID.
  ///
  /// With V1, `v1:` and the transaction ID, otherwise the message's digest.
  package let id: String
  /// `nil` if the body does not name it.
  package let transactionID: String?
  package let originalTransactionID: String?
  package let customerReason: String?
  /// The signing time.
  ///
  /// With V1, which is undated, the time of receipt.
  package let askedAt: Timestamp
  package let deadline: Timestamp
  package let message: Digest
  package let state: State
  package let attempts: Int
  /// The response that was sent to Apple or is about to be sent.
  package let answer: JSONObject?
  package let reason: String?
  package let settledAt: Timestamp?

  /// Returns the ID of V1 requests about a transaction: one case for any number of bodies.
  static func id(ofClaimAbout transactionID: String) -> String { ("v1:" + transactionID).cut(to: 64) }

  /// The name in messages: the transaction ID, otherwise the case's own ID.
  package var name: String { transactionID ?? id }
}

/// A case that only this process may settle, until the lease ends.
package struct LeasedConsumption: Sendable {
  package let request: ConsumptionRequestRecord
  package let owner: [UInt8]
}

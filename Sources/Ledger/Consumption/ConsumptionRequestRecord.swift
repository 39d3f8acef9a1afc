package import JSON
package import Signing
package import Time

/// A CONSUMPTION_REQUEST, and what became of it.
package struct ConsumptionRequestRecord: Hashable, Sendable {
  /// How it stands; its number in the table.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case waiting = 0
    /// Apple took what it was told.
    case answered
    /// Deliberately not answered.
    case declined
    /// The 12 hours went by.
    case expired
    /// Apple did not take the answer.
    case refused
    /// The body, of V1, does not say which purchase it means; only people can find out.
    case unnamed
    /// Only a V1 body asks, which anybody with the app's shared secret can make: people decide whether Apple is told.
    case claimed

    package var name: String { "\(self)" }
  }

  /// Apple wants to hear within 12 hours of the request.
  package static let term = Interval.hours(12)

  package let scope: AppScope
  /// The notification's UUID; of V1 `v1:` and the transaction's id, else the message's digest.
  package let id: String
  /// Nil where the body does not name it.
  package let transactionID: String?
  package let originalTransactionID: String?
  /// Apple's consumptionRequestReason.
  package let customerReason: String?
  /// When it was signed; of V1, which does not tell, when it came.
  package let askedAt: Timestamp
  package let deadline: Timestamp
  package let message: Digest
  package let state: State
  package let attempts: Int
  /// What Apple was told, or is about to be told.
  package let answer: JSONObject?
  /// Why it stands as it does, for people.
  package let reason: String?
  package let settledAt: Timestamp?

  /// The id of what V1 bodies ask about a transaction: one case, however many bodies there are.
  static func id(ofClaimAbout transactionID: String) -> String { ("v1:" + transactionID).cut(to: 64) }

  /// What it is called among people: by its transaction, else by its own id.
  package var name: String { transactionID ?? id }
}

/// A case that this process alone may settle, until the lease ends.
package struct LeasedConsumption: Sendable {
  package let request: ConsumptionRequestRecord
  package let owner: [UInt8]
}

package import Time

/// Apple's complete data about one customer of one app at a time, from which all payloads are made.
package struct CustomerState: Sendable {
  package let id: CustomerID
  package let app: SimulatedApp
  /// The V1 format of the customer's notifications.
  package let era: V1Era
  package let customer: Customer
  /// Whether the app on the device sends receipts instead of signed transactions.
  package let usesStoreKit1: Bool
  /// The license of an organization that bought the app for the customer; `nil` for an ordinary customer.
  package let licence: VolumeLicence?
  package let appTransaction: SimulatedAppTransaction
  package let date: Timestamp
  /// The purchases in the order in which they were made.
  package let purchases: [WorldPurchase]
  /// The subscriptions, oldest first.
  package let subscriptions: [WorldSubscription]

  /// The customer's ID in the developer's own back end: `user-12.0`.
  package var userID: String { "user-\(id)" }
}

package struct WorldPurchase: Hashable, Sendable {
  package let transaction: SimulatedTransaction
  package let orderID: String
  /// Whether the app finished the purchase; receipts omit finished consumables.
  package let isFinished: Bool
  package let madeAt: Timestamp
  /// The last change of Apple's data about it, by which histories are sorted.
  package let modifiedAt: Timestamp
  /// The ID in receipts and V1, which a restore changes.
  package let legacyTransactionID: String
  /// The purchase date in receipts and V1: the time of the last restore, if any.
  package let legacyOriginalPurchaseDate: Timestamp
  /// The V1 IDs that restores created instead of the transaction's, oldest first.
  package let restoredTransactionIDs: [String]
}

package struct WorldSubscription: Hashable, Sendable {
  /// Apple's number: 1 active, 2 expired, 3 in billing retry, 4 in grace, 5 revoked.
  package let status: Int64
  /// The current period or the last one.
  package let transaction: SimulatedTransaction
  package let renewal: SimulatedRenewal
  package let isConsentAsked: Bool

  package var originalTransactionID: String { transaction.originalTransactionID }
}

package import Time

/// Everything that Apple knows of one customer of one app at a moment: every form of it is made from this.
package struct CustomerState: Sendable {
  package let id: CustomerID
  /// In the customer's environment.
  package let app: SimulatedApp
  /// How V1 tells of it.
  package let era: V1Era
  package let customer: Customer
  /// Whether the app on the device sends receipts, or signed transactions.
  package let usesStoreKit1: Bool
  /// Of an organisation that bought the app for its people; nil: they have it as anybody has.
  package let licence: VolumeLicence?
  package let appTransaction: SimulatedAppTransaction
  package let date: Timestamp
  /// In the order in which they were made.
  package let purchases: [WorldPurchase]
  /// The oldest first.
  package let subscriptions: [WorldSubscription]

  /// The customer in the developer's own back end: `user-12.0`.
  package var userID: String { "user-\(id)" }
}

/// A purchase in a world, as it stands at a moment.
package struct WorldPurchase: Hashable, Sendable {
  package let transaction: SimulatedTransaction
  /// The number on the customer's invoice.
  package let orderID: String
  /// What the app was done with; receipts leave out consumables that are.
  package let isFinished: Bool
  package let madeAt: Timestamp
  /// When what Apple says of it changed last: what histories are sorted by.
  package let modifiedAt: Timestamp
  /// As receipts and V1 tell it: other than the transaction's after a restore.
  package let legacyTransactionID: String
  /// As receipts and V1 tell it: the time of the last restore, if there was one since.
  package let legacyOriginalPurchaseDate: Timestamp
  /// Every V1 id that restores put in the place of the transaction's, the oldest first.
  package let restoredTransactionIDs: [String]
}

/// A subscription in a world, as it stands at a moment.
package struct WorldSubscription: Hashable, Sendable {
  /// Apple's number: 1 active, 2 expired, 3 in billing retry, 4 in grace, 5 revoked.
  package let status: Int64
  /// The current period or the last one.
  package let transaction: SimulatedTransaction
  package let renewal: SimulatedRenewal
  /// The customer had to be asked about the announced price.
  package let isConsentAsked: Bool

  package var originalTransactionID: String { transaction.originalTransactionID }
}

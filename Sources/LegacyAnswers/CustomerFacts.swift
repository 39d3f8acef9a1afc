package import Purchases
package import Time

/// What is known of one customer of one app, beyond the receipt that was posted: pure values, wherever they are kept.
///
/// The purchases of one Apple account alone: those of the receipt's ids, and those that one history of Apple's held
/// together with one of them. A link by account token does not count.
package struct CustomerFacts: Sendable {
  /// A purchase, as signed V2 data tells it.
  package struct Transaction: Sendable {
    package var facts: Facts<PurchaseField>
    /// What an earlier answer of Apple's had for the same row: ids that V2 does not know change with every restore.
    package var answered: AppleOnlyFields?

    package init(_ facts: Facts<PurchaseField>, answered: AppleOnlyFields? = nil) {
      self.facts = facts
      self.answered = answered
    }
  }

  /// The part of a row of Apple's answer that V2 cannot tell.
  package struct AppleOnlyFields: Hashable, Sendable {
    package var transactionID: String?
    package var originalPurchaseDate: Timestamp?

    package init(transactionID: String? = nil, originalPurchaseDate: Timestamp? = nil) {
      self.transactionID = transactionID
      self.originalPurchaseDate = originalPurchaseDate
    }
  }

  /// What Apple intends to do next with one subscription.
  package struct Renewal: Sendable {
    package var facts: Facts<RenewalField>
    /// When Apple signed it; nil if it is not known.
    package var statedAt: Timestamp?
    /// Whether the customer was ever asked to agree to a price.
    package var wasAskedToConsent: Bool

    package init(_ facts: Facts<RenewalField>, statedAt: Timestamp? = nil, wasAskedToConsent: Bool = false) {
      self.facts = facts
      self.statedAt = statedAt
      self.wasAskedToConsent = wasAskedToConsent
    }
  }

  package var transactions: [Transaction]
  /// In the order in which an answer tells them.
  package var renewals: [Renewal]
  /// `item_id` of products as Apple once answered it, by product id.
  package var itemIDs: [String: String]
  /// Whether Apple said that it knows none of the ids of the receipt; nothing else is known then.
  package var isForgotten: Bool

  package init(
    transactions: [Transaction] = [], renewals: [Renewal] = [],
    itemIDs: [String: String] = [:], isForgotten: Bool = false
  ) {
    self.isForgotten = isForgotten
    self.transactions = transactions
    self.renewals = renewals
    self.itemIDs = itemIDs
  }
}

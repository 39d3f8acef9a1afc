package import Purchases
package import Time

/// What the ledger knows of one Apple account's purchases of one app: what an answer of verifyReceipt is composed from.
///
/// The purchases of the ids that were asked for, and of those that one history of Apple's held together with one of them.
package struct CustomerStatements: Sendable {
  /// Apple's word on an id of which it has no history.
  package struct Unknown: Hashable, Sendable {
    package let settledAt: Timestamp
    package let reason: String

    /// Whether Apple knows no such id; else the account is gone.
    var isOfID: Bool { !reason.contains("4040001") }

    package init(settledAt: Timestamp, reason: String) {
      self.settledAt = settledAt
      self.reason = reason
    }
  }

  package let scope: AppScope
  /// The ids that were asked for.
  package let asked: [String]
  /// Every id of the account that is known, those that were asked for first.
  package internal(set) var originalTransactionIDs: [String]
  /// When the history was last asked for that held each id.
  package internal(set) var histories: [String: Timestamp] = [:]
  /// Ids that were asked for and that Apple knows nothing of.
  package internal(set) var unknown: [String: Unknown] = [:]
  /// When Apple last said that of one of them, if it did of all, and had told of other customers of the app before: with the key of
  /// another app it says the same of every id.
  package internal(set) var forgottenSince: Timestamp?
  /// Ids that Apple links with one of these and that no history has held yet: a purchase since the last one, perhaps.
  package internal(set) var unheld: [String] = []
  /// Whether Apple is being asked, or is to be asked, about one of the ids.
  package internal(set) var hasOpenLookUp = false
  /// What Apple signed of each purchase, and no claim.
  package internal(set) var purchases: [PurchaseStatement] = []
  /// What Apple's own answers of verifyReceipt, which were fetched here, said of each purchase.
  package internal(set) var answered: [PurchaseStatement] = []
  /// What Apple signed of each renewal.
  package internal(set) var renewals: [RenewalStatement] = []
  /// When Apple last said, of each originalTransactionId, that the customer was asked to agree to a price.
  package internal(set) var askedToConsent: [String: Timestamp] = [:]

  /// By what the history is called that held each id.
  var historyNames: [String: String] = [:]

  package init(scope: AppScope, asked: [String]) {
    self.scope = scope
    self.asked = asked
    originalTransactionIDs = asked
  }
}

package import Purchases
package import Time

/// The purchases of one Apple account in one app, from which a verifyReceipt response is composed.
///
/// They are those of the requested IDs, and of the IDs in one history with them.
package struct CustomerStatements: Sendable {
  package struct Unknown: Hashable, Sendable {
    package let settledAt: Timestamp
    package let reason: String

    /// Whether Apple does not know the ID.
    ///
    /// Otherwise the account is gone.
    var isOfID: Bool { !reason.contains("4040001") }

    package init(settledAt: Timestamp, reason: String) {
      self.settledAt = settledAt
      self.reason = reason
    }
  }

  package let scope: AppScope
  package let asked: [String]
  /// The known IDs of the account, the requested ones first.
  package internal(set) var originalTransactionIDs: [String]
  /// The time of the latest request to Apple for the history that holds each ID.
  package internal(set) var histories: [String: Timestamp] = [:]
  /// The requested IDs that Apple does not know.
  package internal(set) var unknown: [String: Unknown] = [:]
  /// The last time that Apple did not know a requested ID.
  ///
  /// Set only if Apple knows none of them and returned other histories of the app before: with another app's key it
  /// knows no ID.
  package internal(set) var forgottenSince: Timestamp?
  /// The IDs that Apple links with these and that no history holds yet.
  package internal(set) var unheld: [String] = []
  /// Whether a lookup of one of the IDs is waiting or in flight.
  package internal(set) var hasOpenLookUp = false
  /// The purchases that Apple signed, without unsigned claims.
  package internal(set) var purchases: [PurchaseStatement] = []
  /// The purchases in Apple's verifyReceipt responses that Switchyard fetched itself.
  package internal(set) var answered: [PurchaseStatement] = []
  /// The renewals that Apple signed.
  package internal(set) var renewals: [RenewalStatement] = []
  /// The last time that Apple asked the customer to consent to a price increase, by originalTransactionId.
  package internal(set) var askedToConsent: [String: Timestamp] = [:]

  var historyNames: [String: String] = [:]

  package init(scope: AppScope, asked: [String]) {
    self.scope = scope
    self.asked = asked
    originalTransactionIDs = asked
  }
}

package import Purchases
package import Receipts
package import Time

/// A request to verifyReceipt that passed every check: what an answer is composed for.
package struct ComposerRequest: Sendable {
  package var receipt: Receipt
  /// The receipt in base64, to be given back as `latest_receipt`.
  package var receiptData: String
  /// The environment that answers.
  ///
  /// An iOS 6 receipt signs none.
  package var environment: Environment
  /// The time of the request, with its milliseconds.
  package var date: Timestamp
  /// The request's `exclude-old-transactions`.
  package var excludesOldTransactions: Bool
  /// Whether the answer may tell of more than the receipt: the shared secret was right, or the client is known otherwise.
  package var tellsSubscriptions: Bool

  package init(
    receipt: Receipt, receiptData: String, environment: Environment, date: Timestamp,
    excludesOldTransactions: Bool = false, tellsSubscriptions: Bool = true
  ) {
    self.receipt = receipt
    self.receiptData = receiptData
    self.environment = environment
    self.date = date
    self.excludesOldTransactions = excludesOldTransactions
    self.tellsSubscriptions = tellsSubscriptions
  }
}

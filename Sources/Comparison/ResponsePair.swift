package import JSON
package import LegacyAnswers
package import Purchases
package import Receipts
package import Time

/// Two answers to one request, and what ours was made from.
package struct ResponsePair: Sendable {
  /// A request to verifyReceipt, as far as both answers depend on it.
  package struct Request: Sendable {
    package let receipt: Receipt
    /// The receipt in base64.
    package let receiptData: String
    package let environment: Environment
    package let excludesOldTransactions: Bool
    /// When Apple answered.
    package let date: Timestamp

    package init(
      receipt: Receipt, receiptData: String, environment: Environment, excludesOldTransactions: Bool,
      date: Timestamp
    ) {
      self.receipt = receipt
      self.receiptData = receiptData
      self.environment = environment
      self.excludesOldTransactions = excludesOldTransactions
      self.date = date
    }
  }

  package let request: Request
  /// Apple's answer.
  package let theirs: JSONObject
  package let ours: JSONObject
  /// What ours was composed from; it holds nothing of Apple's answer.
  package let facts: CustomerFacts
  /// Every originalTransactionId of the customer's account that is known without Apple's answer.
  package let account: Set<String>
  /// When the newest statement of each originalTransactionId was signed.
  package let signedAt: [String: Timestamp]
  /// Whether everything is known that Apple would say; if not, Apple is asked wherever it may be.
  package let isFresh: Bool

  package init(
    request: Request, theirs: JSONObject, ours: JSONObject, facts: CustomerFacts, account: Set<String>,
    signedAt: [String: Timestamp] = [:], isFresh: Bool
  ) {
    self.request = request
    self.theirs = theirs
    self.ours = ours
    self.facts = facts
    self.account = account
    self.signedAt = signedAt
    self.isFresh = isFresh
  }
}

/// The source of a response, sent in `Switchyard-Answered-By`.
package enum ResponseSource: String, Hashable, Sendable, CaseIterable {
  /// Apple's verifyReceipt, passed through.
  case apple
  case ledger
  /// The ledger, after Apple's history was requested.
  case lookUp = "lookup"
  /// The ledger and the receipt, possibly without the latest data; no subscription's end in it is unconfirmed.
  case receipt
}

/// Who gave an answer; what `Switchyard-Answered-By` says.
package enum ResponseSource: String, Hashable, Sendable, CaseIterable {
  /// Apple's verifyReceipt, passed through.
  case apple
  /// What the ledger knew.
  case ledger
  /// The ledger, after Apple's history was asked for.
  case lookUp = "lookup"
  /// The ledger and the receipt, of which news may be missing; nothing in it was called ended unheard.
  case receipt
}

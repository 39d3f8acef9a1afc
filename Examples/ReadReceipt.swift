import Receipts

/// Reads a receipt as a client sent it: its original transaction ids, or why it has none that can be trusted.
func readReceipt(_ text: String) -> Result<[String], ReceiptError> {
  switch ReceiptReader().read(Array(text.utf8), expecting: "com.example.notes") {
  case .verified(let verified): .success(verified.receipt.originalTransactionIDs)
  case .refused(_, let refusal), .unreadable(let refusal): .failure(refusal)
  }
}

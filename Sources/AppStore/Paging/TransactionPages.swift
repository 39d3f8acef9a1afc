package import Wire

/// The pages of Get Transaction History.
package struct HistoryPages: PageSource {
  package let anyTransactionID: String
  package let filter: HistoryFilter
  /// Of the deprecated version, which leaves finished consumables out.
  package let isV1: Bool

  package init(of anyTransactionID: String, _ filter: HistoryFilter = HistoryFilter(), isV1: Bool = false) {
    self.anyTransactionID = anyTransactionID
    self.filter = filter
    self.isV1 = isV1
  }

  package func call(after cursor: String?) -> APIRequest<HistoryResponse> {
    isV1
      ? .transactionHistoryV1(of: anyTransactionID, filter, revision: cursor)
      : .transactionHistory(of: anyTransactionID, filter, revision: cursor)
  }

  package func cursor(of answer: HistoryResponse) -> (next: String?, hasMore: Bool) {
    (answer.revision, answer.hasMore ?? false)
  }

  package func items(of answer: HistoryResponse, _ verifying: ItemVerifier) -> [SignedItem] {
    (answer.signedTransactions ?? []).map(verifying.transaction)
  }

  package func identity(of item: SignedItem) -> String? { item.transaction?.transactionId }
}

/// The pages of Get Refund History.
package struct RefundPages: PageSource {
  package let anyTransactionID: String

  package init(of anyTransactionID: String) { self.anyTransactionID = anyTransactionID }

  package func call(after cursor: String?) -> APIRequest<RefundHistoryResponse> {
    .refundHistory(of: anyTransactionID, revision: cursor)
  }

  package func cursor(of answer: RefundHistoryResponse) -> (next: String?, hasMore: Bool) {
    (answer.revision, answer.hasMore ?? false)
  }

  package func items(of answer: RefundHistoryResponse, _ verifying: ItemVerifier) -> [SignedItem] {
    (answer.signedTransactions ?? []).map(verifying.transaction)
  }

  package func identity(of item: SignedItem) -> String? { item.transaction?.transactionId }
}

package import Purchases

extension Vocabulary {
  /// The ids of the rows by which `source` said `field` of a purchase, in order; `facts` are what it came to.
  package func rows(behind field: PurchaseField, of source: Source, in facts: Facts<PurchaseField>) -> [String] {
    switch source {
    case .signedV2: [purchases.rules[field].id]
    case .verifiedReceipt, .unverifiedReceipt:
      receipts.rows.filter { $0.field == field && $0.form.mayHaveMade(facts.integer(field)) }.map(\.id)
    case .notificationV1, .verifyReceiptAnswer: []
    }
  }

  /// The same of a renewal, which only signed data and the V1 side know of.
  package func rows(behind field: RenewalField, of source: Source, in facts: Facts<RenewalField>) -> [String] {
    switch source {
    case .signedV2: [renewals.rules[field].id]
    case .verifiedReceipt, .unverifiedReceipt, .notificationV1, .verifyReceiptAnswer: []
    }
  }

  /// The same of an app transaction, which only signed data knows of.
  package func rows(
    behind field: AppTransactionField, of source: Source, in facts: Facts<AppTransactionField>
  ) -> [String] {
    switch source {
    case .signedV2: [appTransactions.rules[field].id]
    case .verifiedReceipt, .unverifiedReceipt, .notificationV1, .verifyReceiptAnswer: []
    }
  }
}

extension ReceiptTable.Form {
  /// Whether a row of this form can have come to the field's number: several rows lead to one field.
  fileprivate func mayHaveMade(_ number: Int64?) -> Bool {
    switch self {
    case .text, .integer, .date, .productType, .freeTrial: true
    case .introductory: number == 1
    case .promotional: number == 2
    }
  }
}

import JSON
package import Purchases

/// The rows that made a fact, told from the statement alone: nothing of them is stored.
extension Vocabulary {
  /// The ids of the rows that made `field` what it is in `facts` of this source; several where more than one may have,
  /// none for a field without a value.
  package func rules(
    behind field: PurchaseField, of facts: Facts<PurchaseField>, from source: Source
  ) -> [String] {
    guard facts[field] != nil else { return [] }
    if facts.isInferred(field) { return inferred(field, facts) }
    switch source {
    case .signedV2: return [purchases.rules[field].id]
    case .verifiedReceipt, .unverifiedReceipt:
      return receipts.rows.filter { row in
        row.field == field
          && (field != .offerType || row.form == (facts.integer(.offerType) == 2 ? .promotional : .introductory))
      }.map(\.id)
    case .notificationV1, .verifyReceiptAnswer:
      return legacyPurchases.rows.filter { $0.field == field && $0.made(facts, facts.integer(.offerType)) }.map(\.id)
    }
  }

  /// The same of a renewal.
  package func rules(behind field: RenewalField, of facts: Facts<RenewalField>, from source: Source) -> [String] {
    guard facts[field] != nil else { return [] }
    switch source {
    case .signedV2: return [renewals.rules[field].id]
    case .verifiedReceipt, .unverifiedReceipt: return []
    case .notificationV1, .verifyReceiptAnswer:
      return legacyRenewals.rows.filter { $0.field == field && $0.made(facts, facts.integer(.offerType)) }.map(\.id)
    }
  }

  private func inferred(_ field: PurchaseField, _ facts: Facts<PurchaseField>) -> [String] {
    let value = facts.text(field) ?? facts.flag(field).map { "\($0)" } ?? ""
    return inferences.rows.filter { row in
      guard row.field == field, row.value == value else { return false }
      return switch row.condition {
      case .isOriginalTransaction: facts.isOriginalTransaction
      case .isNoSubscription: !facts.isOriginalTransaction && !facts.isSubscription
      case .replacesUpgraded, .longAfterPrevious: !facts.isOriginalTransaction && facts.isSubscription
      case .hasSubscriptionMarks, .ownershipAbsent, .followsPrevious, .replacedByNext: true
      }
    }.map(\.id)
  }
}

extension Facts<PurchaseField> {
  /// Whether it is the transaction by whose id the others are called.
  package var isOriginalTransaction: Bool { text(.transactionId).map { $0 == text(.originalTransactionId) } ?? false }
}

extension V1FieldTable.Row {
  /// Whether this row made its field, where the kind of the offer decides it.
  fileprivate func made(_ facts: Facts<Field>, _ offerType: Int64?) -> Bool {
    switch form {
    case .introductory: offerType == 1
    case .promotional: offerType == 2
    case .offerCode, .offerCodeName: offerType == 3
    case .text: field.name == "offerIdentifier" ? offerType == 2 : true
    case .integer, .flag, .date, .revocation, .revocationReason, .freeTrial, .switched, .consent: true
    }
  }
}

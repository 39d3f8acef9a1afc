import JSON
import Mappings
import Purchases
import Receipts
import Time

/// What the fields of one row are taken from.
struct RowSource {
  var signed: Facts<PurchaseField>?
  var answered: CustomerFacts.AppleOnlyFields?
  var posted: ReceiptPurchase?
  var transaction: TransactionReceipt?
  /// The group of another row of the same originalTransactionId.
  var group: String?
  var itemIDs: [String: String] = [:]

  /// Whether it is a period of a subscription that renews.
  var isSubscription: Bool {
    if let type = signed?.text(.type) { return type == "Auto-Renewable Subscription" }
    return signed?.date(.expiresDate) != nil || posted?.expiresDate != nil || transaction?.expiresDate != nil
  }

  private var isConsumable: Bool {
    if let type = signed?.text(.type) { return type == "Consumable" }
    return posted?.productType == .consumable
  }

  /// The first value in the order of the plan, and whose it is.
  func value(_ plan: FieldRule) -> (value: JSONValue, origin: ResponseFieldTable.Origin)? {
    for origin in plan.order {
      let value: JSONValue? =
        switch origin {
        case .signed: plan.purchaseField.flatMap { signed?[$0] }
        case .receipt: receiptValue(plan)
        case .answered: answeredValue(plan)
        case .composed, .echoed: nil
        }
      if let value { return (value, origin) }
    }
    return nil
  }

  func receiptValue(_ plan: FieldRule) -> JSONValue? {
    if let posted { return plan.attribute.flatMap(posted.value(ofAttribute:)) }
    return plan.signedKey.flatMap { transaction?.value(ofKey: $0) }
  }

  private func answeredValue(_ plan: FieldRule) -> JSONValue? {
    switch plan.form {
    case .transactionId: answered?.transactionID.map(JSONValue.string)
    case .originalDate: answered?.originalPurchaseDate.map { .integer($0.sinceEpoch) }
    default: nil
    }
  }

  /// When the purchase was taken back, unless V1 would not tell: of consumables, and of what an upgrade replaced.
  func cancellation(
    _ plan: FieldRule, _ readings: RuleOptions
  ) -> (value: JSONValue, origin: ResponseFieldTable.Origin)? {
    if let signed, plan.order.contains(.signed) {
      if isConsumable || signed.flag(.isUpgraded) == true { return nil }
      if readings.hidesPartRefund, signed.text(.revocationType) == "REFUND_PRORATED" { return nil }
      return plan.purchaseField.flatMap { signed[$0] }.map { ($0, .signed) }
    }
    return plan.order.contains(.receipt) ? receiptValue(plan).map { ($0, .receipt) } : nil
  }

  /// Whether the purchase was an introductory free trial, and whose word that is.
  func isTrial(_ plan: FieldRule, _ readings: RuleOptions) -> (value: Bool, origin: ResponseFieldTable.Origin) {
    guard let signed, plan.order.contains(.signed) else { return (receiptValue(plan)?.bool ?? false, .receipt) }
    switch signed.integer(.offerType) {
    case 1: break
    case .some where readings.anyFreeTrialCounts:
      return (signed.text(.offerDiscountType) == "FREE_TRIAL", .signed)
    default: return (false, .signed)
    }
    if let discount = signed.text(.offerDiscountType) { return (discount == "FREE_TRIAL", .signed) }
    // Payloads before 2024 do not say how an offer is paid.
    if signed.integer(.price) == 0 { return (true, .signed) }
    if let flag = receiptValue(plan)?.bool { return (flag, .receipt) }
    return (false, .signed)
  }

  /// Whether the purchase was an introductory offer that was paid, and whose word that is.
  func isIntroductory(_ plan: FieldRule) -> (value: Bool, origin: ResponseFieldTable.Origin) {
    guard let signed, plan.order.contains(.signed) else { return (receiptValue(plan)?.bool ?? false, .receipt) }
    guard signed.integer(.offerType) == 1 else { return (false, .signed) }
    if let discount = signed.text(.offerDiscountType) { return (discount != "FREE_TRIAL", .signed) }
    if signed.integer(.price) == 0 { return (false, .signed) }
    if let flag = receiptValue(plan)?.bool { return (flag, .receipt) }
    return (true, .signed)
  }

  /// The identifier of a promotional offer.
  func promotionalOffer(
    _ plan: FieldRule, _ readings: RuleOptions
  ) -> (value: JSONValue, origin: ResponseFieldTable.Origin)? {
    guard let signed, plan.order.contains(.signed) else { return receiptValue(plan).map { ($0, .receipt) } }
    let type = signed.integer(.offerType)
    guard type == 2 || (type == 4 && readings.winBackIsPromotional) else { return nil }
    return signed[.offerIdentifier].map { ($0, .signed) }
  }

  /// The product's item id: as signed for the product that was sent, else as Apple once answered it.
  var itemID: (value: String, origin: ResponseFieldTable.Origin)? {
    let product = signed?.text(.productId) ?? transaction?.productID
    if product == transaction?.productID, let pair = transaction?.pair("item-id") { return (pair, .receipt) }
    return product.flatMap { itemIDs[$0] }.map { ($0, .answered) }
  }
}

extension TransactionReceipt {
  /// A signed value as it is written.
  func pair(_ key: String) -> String? { signedPairs.first { $0.key == key }?.value }
}

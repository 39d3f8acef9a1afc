import JSON
import Purchases
import Receipts
import Time
import Wire

/// The V2 facts that an answer of Apple's implies, and what it tells of its request.
///
/// V2 knows one original date for all periods of a subscription, and no id that a restore made: a row is taken apart
/// into what V2 could have said of it, never kept as it is.
struct ImpliedFacts {
  private(set) var facts = CustomerFacts()
  /// Rows of `latest_receipt_info` that no V2 data tells of: consumables that were used up, and free subscriptions.
  private(set) var untellable: Set<Int> = []
  /// The original date that V2 would state, by originalTransactionId.
  private(set) var originalDates: [String: Timestamp] = [:]
  let excludesOldTransactions: Bool
  let tellsSubscriptions: Bool
  let date: Timestamp

  init(_ answer: VerifyReceiptResponse, receipt: Receipt, date given: Timestamp?) {
    let latest = answer.latestReceiptInfo ?? answer.latestTransactions
    switch receipt {
    case .app(let receipt):
      date = given ?? answer.receipt?.requestDate ?? receipt.createdAt ?? Timestamp(0)
      tellsSubscriptions =
        answer.json["latest_receipt_info"] != nil || answer.json["latest_receipt"] != nil
        || answer.json["pending_renewal_info"] != nil
      excludesOldTransactions = Self.excludesOld(latest, receipt)
      facts.isForgotten = answer.json["latest_receipt"] != nil && answer.json["latest_receipt_info"] == nil
      untellable = Self.untellable(latest, receipt)
    case .transaction(let receipt):
      date = given ?? Self.date(of: answer, latest.first, receipt)
      tellsSubscriptions = true
      excludesOldTransactions = false
    }
    originalDates = Self.originalDates(latest, receipt)
    facts.transactions = latest.indices.filter { !untellable.contains($0) }.map { place in
      CustomerFacts.Transaction(transaction(latest[place], receipt))
    }
    facts.renewals = renewals(answer, latest)
    if answer.isFlat, let row = latest.first, let product = row.productID, let item = row.json["item_id"]?.looseText {
      facts.itemIDs[product] = item
    }
  }

  // MARK: The request

  /// Whether each id has one row, although the receipt has older ones that are no consumables.
  private static func excludesOld(_ latest: [V1TransactionRow], _ receipt: AppReceipt) -> Bool {
    let originals = latest.compactMap(\.originalTransactionID)
    guard !latest.isEmpty, Set(originals).count == originals.count else { return false }
    let lines = Set(latest.compactMap(\.webOrderLineItemID))
    return receipt.purchases.contains { purchase in
      purchase.webOrderLineItemID.map { !lines.contains(String($0)) } ?? false
    }
  }

  /// An iOS 6 answer has no date: it was given while the period ran, or after its end.
  private static func date(
    of answer: VerifyReceiptResponse, _ latest: V1TransactionRow?, _ receipt: TransactionReceipt
  ) -> Timestamp {
    let bought = latest?.purchaseDate ?? receipt.purchaseDate ?? Timestamp(0)
    guard answer.tellsOfAnEnd || answer.status == 21_006, let end = latest?.expiresDate ?? receipt.expiresDate else {
      return max(bought, latest?.originalPurchaseDate ?? bought, firstDate(of: answer, latest))
    }
    return max(end, latest?.cancellationDate ?? end, firstDate(of: answer, latest))
  }

  /// The first day on which Apple's answers had what this one has.
  private static func firstDate(of answer: VerifyReceiptResponse, _ latest: V1TransactionRow?) -> Timestamp {
    if latest?.inAppOwnershipType != nil { return Timestamp(1_609_459_200_000) }
    if latest?.subscriptionGroupIdentifier != nil { return Timestamp(1_577_836_800_000) }
    let isOf2017 = answer.json["auto_renew_status"] != nil || latest?.isInIntroOfferPeriod != nil
    return Timestamp(isOf2017 ? 1_483_228_800_000 : 0)
  }

  // MARK: Purchases

  private static func isPeriod(_ row: V1TransactionRow) -> Bool {
    row.expiresDate != nil || row.webOrderLineItemID != nil
  }

  /// Rows without a period that are not in the receipt and cannot be of a kind that V2 keeps showing: their product is
  /// a consumable or a free subscription elsewhere, or was bought more than once.
  private static func untellable(_ latest: [V1TransactionRow], _ receipt: AppReceipt) -> Set<Int> {
    let known = Set(receipt.purchases.flatMap { [$0.originalTransactionID, $0.transactionID].compactMap(\.self) })
    var types: [String: ReceiptProductType] = [:]
    for purchase in receipt.purchases { if let product = purchase.productID { types[product] = purchase.productType } }
    let others = latest.indices.filter { !isPeriod(latest[$0]) }
    let originals = Dictionary(grouping: others) { latest[$0].productID ?? "" }
      .mapValues { Set($0.compactMap { latest[$0].originalTransactionID }).count }
    return Set(
      others.filter { place in
        let row = latest[place]
        if row.originalTransactionID.map(known.contains) == true { return false }
        let product = row.productID ?? ""
        if let type = types[product] { return type == .consumable || type == .freeSubscription }
        return originals[product] ?? 0 > 1
      })
  }

  private static func originalDates(_ latest: [V1TransactionRow], _ receipt: Receipt) -> [String: Timestamp] {
    var dates: [String: (bought: Timestamp, original: Timestamp)] = [:]
    func note(_ id: String?, _ own: String?, _ bought: Timestamp?, _ original: Timestamp?) {
      guard let id, let bought, let original else { return }
      // The first purchase tells it; else the earliest that is there.
      let rank = id == own ? Timestamp(.min) : bought
      if rank < dates[id]?.bought ?? Timestamp(.max) { dates[id] = (rank, original) }
    }
    for row in latest {
      note(row.originalTransactionID, row.transactionID, row.purchaseDate, row.originalPurchaseDate)
    }
    switch receipt {
    case .app(let receipt):
      for purchase in receipt.purchases where dates[purchase.originalTransactionID ?? ""]?.bought != Timestamp(.min) {
        note(
          purchase.originalTransactionID, purchase.transactionID, purchase.purchaseDate, purchase.originalPurchaseDate)
      }
    case .transaction: break
    }
    return dates.mapValues(\.original)
  }

  private func transaction(_ row: V1TransactionRow, _ receipt: Receipt) -> Facts<PurchaseField> {
    var facts = Facts<PurchaseField>()
    func text(_ field: PurchaseField, _ value: String?) {
      if let value, value != "" { facts.set(field, .string(value)) }
    }
    func date(_ field: PurchaseField, _ value: Timestamp?) {
      if let value { facts.set(field, .integer(value.sinceEpoch)) }
    }
    text(.transactionId, row.transactionID)
    text(.originalTransactionId, row.originalTransactionID)
    text(.webOrderLineItemId, row.webOrderLineItemID)
    text(.productId, row.productID)
    text(.subscriptionGroupIdentifier, row.subscriptionGroupIdentifier)
    date(.purchaseDate, row.purchaseDate)
    date(.originalPurchaseDate, row.originalTransactionID.flatMap { originalDates[$0] })
    date(.expiresDate, row.expiresDate)
    if let quantity = row.quantity { facts.set(.quantity, .integer(quantity)) }
    text(.type, type(of: row, receipt))
    text(.appAccountToken, row.appAccountToken)
    text(.inAppOwnershipType, row.inAppOwnershipType)
    if row.isUpgraded == true {
      facts.set(.isUpgraded, true)
    } else {
      date(.revocationDate, row.cancellationDate)
      if let reason = row.cancellationReason { facts.set(.revocationReason, .integer(reason)) }
    }
    if let offer = row.promotionalOfferID {
      facts.set(.offerType, 2)
      text(.offerIdentifier, offer)
    } else if let offer = row.offerCodeRefName {
      facts.set(.offerType, 3)
      text(.offerIdentifier, offer)
    } else if row.isTrialPeriod == true || row.isInIntroOfferPeriod == true {
      facts.set(.offerType, 1)
      facts.set(.offerDiscountType, row.isTrialPeriod == true ? "FREE_TRIAL" : "PAY_AS_YOU_GO")
    }
    return facts
  }

  private func type(of row: V1TransactionRow, _ receipt: Receipt) -> String? {
    if Self.isPeriod(row) { return "Auto-Renewable Subscription" }
    guard case .app(let receipt) = receipt else { return nil }
    return receipt.purchases.first { $0.productID == row.productID }?.productType?.name
  }

  // MARK: Renewals

  private func renewals(_ answer: VerifyReceiptResponse, _ latest: [V1TransactionRow]) -> [CustomerFacts.Renewal] {
    if answer.isFlat {
      guard let original = latest.first?.originalTransactionID, answer.json["auto_renew_status"] != nil else {
        return []
      }
      let element = PendingRenewalInfo(answer.json)
      return [renewal(element, of: original)]
    }
    return (answer.pendingRenewalInfo ?? []).map { element in
      let ofProduct = latest.first { $0.productID == element.productID && Self.isPeriod($0) }
      return renewal(element, of: element.originalTransactionID ?? ofProduct?.originalTransactionID ?? "")
    }
  }

  private func renewal(_ element: PendingRenewalInfo, of original: String) -> CustomerFacts.Renewal {
    var facts = Facts<RenewalField>()
    facts.set(.originalTransactionId, .string(original))
    if let product = element.productID { facts.set(.productId, .string(product)) }
    if let product = element.autoRenewProductID { facts.set(.autoRenewProductId, .string(product)) }
    if let status = element.autoRenewStatus { facts.set(.autoRenewStatus, status ? 1 : 0) }
    if let intent = element.expirationIntent { facts.set(.expirationIntent, .integer(intent)) }
    if let retries = element.isInBillingRetryPeriod { facts.set(.isInBillingRetryPeriod, .bool(retries)) }
    if let grace = element.gracePeriodExpiresDate { facts.set(.gracePeriodExpiresDate, .integer(grace.sinceEpoch)) }
    if let price = element.priceIncreaseStatus ?? element.priceConsentStatus {
      facts.set(.priceIncreaseStatus, .integer(price))
    }
    if let offer = element.promotionalOfferID {
      facts.set(.offerType, 2)
      facts.set(.offerIdentifier, .string(offer))
    } else if let offer = element.offerCodeRefName {
      facts.set(.offerType, 3)
      facts.set(.offerIdentifier, .string(offer))
    }
    return CustomerFacts.Renewal(
      facts, statedAt: date, wasAskedToConsent: element.priceConsentStatus != nil)
  }
}

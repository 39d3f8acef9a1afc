import JSON
import LegacyAnswers
import Mappings
import Purchases
import Receipts
import Time
import Wire

/// What the tests of `difference-causes.tsv` ask about two answers.
final class DifferenceContext {
  private let pair: ResponsePair
  /// Keys that differ although composed from Apple's own facts.
  private let defects: Set<String>
  private let goneLater: Set<String>
  private let theirRows: [String: V1TransactionRow]
  private let ourRows: [String: V1TransactionRow]
  /// The receipt's rows, as Apple reads them, by what `latest_receipt_info` would call them.
  private let inApp: [String: JSONObject]
  private let productTypes: [String: String]
  /// Found only when nothing else explains a difference: it takes a dozen answers.
  private lazy var mended = findMended()
  private let findMended: () -> Set<String>

  /// - Parameter mended: keys that are as Apple's with another reading of a rule.
  init(_ pair: ResponsePair, defects: Set<String>, goneLater: Set<String>, mended: @escaping () -> Set<String>) {
    findMended = mended
    self.pair = pair
    self.defects = defects
    self.goneLater = goneLater
    theirRows = Self.rows(of: pair.theirs)
    let posted = (pair.theirs["receipt"]?.object?["in_app"]?.array ?? []).compactMap(\.object)
    inApp = Dictionary(posted.map { (Self.name(of: V1TransactionRow($0)), $0) }) { first, _ in first }
    ourRows = Self.rows(of: pair.ours)
    productTypes = Self.productTypes(pair)
  }

  private static func rows(of answer: JSONObject) -> [String: V1TransactionRow] {
    let rows = VerifyReceiptResponse(answer).latestReceiptInfo ?? []
    return Dictionary(rows.map { (name(of: $0), $0) }) { first, _ in first }
  }

  private static func name(of row: V1TransactionRow) -> String {
    if let line = row.webOrderLineItemID { return "latest_receipt_info[line \(line)]" }
    return "latest_receipt_info[\(row.originalTransactionID ?? row.transactionID ?? "")]"
  }

  private static func productTypes(_ pair: ResponsePair) -> [String: String] {
    var types: [String: String] = [:]
    if case .app(let receipt) = pair.request.receipt {
      for purchase in receipt.purchases {
        guard let product = purchase.productID else { continue }
        if purchase.productType == .consumable { types[product] = ProductWord.consumable }
        if purchase.productType == .freeSubscription { types[product] = ProductWord.freeSubscription }
      }
    }
    for transaction in pair.facts.transactions {
      if let product = transaction.facts.text(.productId), let type = transaction.facts.text(.type) {
        types[product] = type
      }
    }
    return types
  }

  /// Words for product types; Apple's own where V2 has one.
  private enum ProductWord {
    static let consumable = "Consumable"
    static let freeSubscription = "Free Subscription"
  }

  // MARK: Causes

  /// Whether a row of the table explains a difference.
  func holds(_ row: DifferenceTable.Row, of field: FieldDifference) -> Bool {
    if let place = row.place, place != field.place { return false }
    if let key = row.key, key != field.name { return false }
    return passes(row.test, field)
  }

  private func passes(_ test: DifferenceTable.Test, _ field: FieldDifference) -> Bool {
    switch test {
    case .recomposed: return isDefect(field)
    case .goneLater: return goneLater.contains(field.key)
    case .datedAfter:
      return original(of: field).flatMap { pair.signedAt[$0] }.map { $0 > pair.request.date } ?? false
    case .notFresh: return !pair.isFresh
    case .unanswered: return !pair.isFresh && pair.ours["receipt"] == nil && pair.theirs["receipt"] != nil
    case .rowOrder: return field.isOrder
    case .sameRow: return !field.isRow && field.theirs != nil && field.ours != nil
    case .belowSecond: return isBelowSecond(field)
    case .upgradedRow: return !field.isRow && rowOfBoth(field).map { $0.isUpgraded == true } ?? false
    case .otherReading: return mended.contains(field.key)
    case .excludeOldRow: return isExcludedRow(field)
    case .truncatedRow: return isTruncated(field)
    case .untellable: return field.theirs != nil
    case .freeSubscriptionRow: return type(of: field) == ProductWord.freeSubscription
    case .environmentStatus: return isStatus(field, [21_007, 21_008])
    case .secretStatus: return isStatus(field, [21_004])
    case .foreignOriginal: return isForeign(field)
    case .consumableRow: return field.isRow && type(of: field) == ProductWord.consumable && !isLostConsumable(field)
    case .anything: return true
    }
  }

  /// Whether only a fault of ours explains it.
  ///
  /// A row only if all of it is lost or made up in recomposing: one that is there then was not known before.
  private func isDefect(_ field: FieldDifference) -> Bool {
    if let row = field.rowObject {
      return !row.isEmpty && row.allSatisfy { defects.contains("\(field.key).\($0.key)") }
    }
    // Whose offer it was is ours to state only where Apple does.
    if Self.offers.contains(field.name), field.theirs == nil, rowOfBoth(field) != nil { return true }
    // What Apple's answer implies has the ids of its restores and whole seconds: composed from that, these are always right.
    if let posted = postedValue(field) {
      if posted == field.ours { return false }
      if posted == field.theirs, field.ours != nil { return true }
    }
    if isBelowSecond(field), let theirs = Self.number(field.theirs), let ours = Self.number(field.ours) {
      return theirs.isMultiple(of: 1_000) && !ours.isMultiple(of: 1_000)
    }
    return defects.contains(field.key)
  }

  /// What the receipt itself says of an id or a date that every restore makes anew.
  private func postedValue(_ field: FieldDifference) -> JSONValue? {
    guard field.place == .latest, Self.restored.contains(field.name),
      let row = FieldDifference.row(of: field.key), let own = inApp[row]
    else { return nil }
    return own[String(field.key.dropFirst(row.count + 1))]
  }

  private static func number(_ value: JSONValue?) -> Int64? { value?.string.flatMap { Int64($0) } }

  private static let offers: Set<String> = ["promotional_offer_id", "offer_code_ref_name"]
  private static let restored: Set<String> = ["transaction_id", "original_purchase_date"]

  private func row(_ field: FieldDifference) -> V1TransactionRow? {
    if let object = field.rowObject { return V1TransactionRow(object) }
    guard let key = FieldDifference.row(of: field.key) else { return nil }
    return theirRows[key] ?? ourRows[key]
  }

  private func rowOfBoth(_ field: FieldDifference) -> V1TransactionRow? {
    guard let key = FieldDifference.row(of: field.key), theirRows[key] != nil else { return nil }
    return ourRows[key] ?? theirRows[key]
  }

  private func type(of field: FieldDifference) -> String? { row(field)?.productID.flatMap { productTypes[$0] } }

  /// The originalTransactionId that a field is about.
  private func original(of field: FieldDifference) -> String? {
    if field.place == .pending, let start = field.key.firstIndex(of: "["), let end = field.key.firstIndex(of: "]") {
      return String(field.key[field.key.index(after: start)..<end])
    }
    if let row = row(field) { return row.originalTransactionID }
    return field.place == .flat ? pair.request.receipt.originalTransactionIDs.first : nil
  }

  /// Whether a consumable that the receipt has is in Apple's answer and not in ours: bought since then it would not be in the
  /// receipt, and Apple leaves out what is finished.
  private func isLostConsumable(_ field: FieldDifference) -> Bool {
    guard field.theirs != nil, field.ours == nil, let row = row(field) else { return false }
    return inApp[Self.name(of: row)] != nil
  }

  private func isBelowSecond(_ field: FieldDifference) -> Bool {
    guard let a = Self.number(field.theirs), let b = Self.number(field.ours) else {
      return false
    }
    return field.key.contains("date") && abs(a - b) < 1_000
  }

  private func isExcludedRow(_ field: FieldDifference) -> Bool {
    guard pair.request.excludesOldTransactions, field.isRow, let row = row(field),
      let original = row.originalTransactionID
    else { return false }
    func hasNewer(_ rows: [String: V1TransactionRow]) -> Bool {
      rows.values.contains {
        $0.originalTransactionID == original
          && $0.purchaseDate ?? Timestamp(.min) > row.purchaseDate ?? Timestamp(.min)
      }
    }
    return hasNewer(theirRows) && hasNewer(ourRows)
  }

  private func isTruncated(_ field: FieldDifference) -> Bool {
    guard pair.request.environment == .sandbox, field.isRow, field.theirs == nil, let row = row(field),
      let bought = row.purchaseDate
    else { return false }
    let theirs = theirRows.values.filter { $0.originalTransactionID == row.originalTransactionID }
    return !theirs.isEmpty && theirs.allSatisfy { $0.purchaseDate.map { $0 > bought } ?? false }
  }

  private func isStatus(_ field: FieldDifference, _ statuses: Set<Int64>) -> Bool {
    [field.theirs, field.ours].contains { $0?.integer.map(statuses.contains) ?? false }
  }

  private func isForeign(_ field: FieldDifference) -> Bool {
    guard field.isRow, let original = original(of: field) else { return false }
    return !pair.account.contains(original)
  }

  // MARK: Impact

  private static let decisive: Set<String> = [
    "status", "expires_date", "cancellation_date", "is_upgraded", "product_id", "original_transaction_id", "quantity",
    "grace_period_expires_date",
  ]

  /// Whether the access that differs may depend on the field.
  func decides(_ field: FieldDifference, _ impact: AccessImpact) -> Bool {
    guard field.isRow || Self.decisive.contains(field.name) else { return false }
    // A status, or the one object of an iOS 6 answer, is about everything.
    guard FieldDifference.row(of: field.key) != nil, let original = original(of: field) else { return true }
    return impact.parts.contains { $0.originalTransactionID == original }
  }
}

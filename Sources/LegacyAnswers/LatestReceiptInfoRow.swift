import Mappings
import Purchases
import Receipts
import Time

/// A row of `latest_receipt_info`: a purchase that signed data, the receipt, or both tell of.
struct LatestReceiptInfoRow {
  /// Among the customer's transactions; nil for a purchase that the receipt alone has.
  let signed: Int?
  /// Among the receipt's purchases; nil for one that it does not have.
  let posted: Int?
  let originalID: String
  let kind: Kind
  let purchasedAt: Int64
  let expiresAt: Int64?
  let isUpgraded: Bool
  /// Whether it was refunded or upgraded: whatever its end, it gives no access.
  let isDead: Bool
  /// The transaction_id that the row has, as a number where it is one.
  let number: Int64
  let transactionID: String

  /// What the product is, as far as it matters here.
  enum Kind {
    case subscription, consumable, other
  }

  /// Whether this row is newer than `other`: bought later.
  func isNewer(than other: LatestReceiptInfoRow) -> Bool {
    if purchasedAt != other.purchasedAt { return purchasedAt > other.purchasedAt }
    return LatestReceiptInfoRow.comes(other, beforeByID: self)
  }

  /// Ascending by transaction_id.
  static func comes(_ a: LatestReceiptInfoRow, beforeByID b: LatestReceiptInfoRow) -> Bool {
    if a.number != b.number { return a.number < b.number }
    return a.transactionID < b.transactionID
  }

  /// Descending by the end, of purchases that have none by their own date; then descending by transaction_id.
  ///
  /// - Parameter deadByPurchase: whether refunded and upgraded periods go by the date of their purchase, too.
  static func comes(_ a: LatestReceiptInfoRow, beforeByEnd b: LatestReceiptInfoRow, deadByPurchase: Bool) -> Bool {
    func date(_ row: LatestReceiptInfoRow) -> Int64 {
      deadByPurchase && row.isDead ? row.purchasedAt : row.expiresAt ?? row.purchasedAt
    }
    let (left, right) = (date(a), date(b))
    if left != right { return left > right }
    return comes(b, beforeByID: a)
  }
}

/// The rows of `latest_receipt_info`.
struct LatestReceiptInfoRows {
  let rows: [LatestReceiptInfoRow]

  /// Every purchase that verifyReceipt would show, in the order of the time.
  init(_ receipt: AppReceipt, _ facts: CustomerFacts, _ readings: RuleOptions, excludesOld: Bool) {
    var posted = PostedPurchases(receipt)
    var rows: [LatestReceiptInfoRow] = []
    rows.reserveCapacity(facts.transactions.count)
    for place in facts.transactions.indices {
      let found = posted.take(facts.transactions[place].facts)
      let row = Self.row(facts.transactions[place], place, found.map { ($0, receipt.purchases[$0]) }, readings)
      if row.kind == .consumable, found == nil || !readings.consumablesOfReceipt { continue }
      rows.append(row)
    }
    for place in posted.rest {
      let row = Self.row(receipt.purchases[place], place)
      if row.kind == .consumable, !readings.consumablesOfReceipt { continue }
      rows.append(row)
    }
    if excludesOld { rows = Self.newest(rows, readings.excludeOld) }
    if readings.latestOrder == .transactionIdAscending {
      rows.sort { LatestReceiptInfoRow.comes($0, beforeByID: $1) }
    } else {
      let deadByPurchase = readings.reads(.deadRows, .byPurchaseDate)
      rows.sort { LatestReceiptInfoRow.comes($0, beforeByEnd: $1, deadByPurchase: deadByPurchase) }
    }
    self.rows = rows
  }

  /// The newest row of each originalTransactionId; nothing that was used up.
  private static func newest(_ rows: [LatestReceiptInfoRow], _ reading: ResponseRuleTable.Option)
    -> [LatestReceiptInfoRow]
  {
    var newest: [String: Int] = [:]
    for place in rows.indices where rows[place].kind != .consumable {
      if reading == .newestOfEachSubscription, rows[place].kind != .subscription { continue }
      guard let other = newest[rows[place].originalID] else {
        newest[rows[place].originalID] = place
        continue
      }
      if rows[place].isNewer(than: rows[other]) { newest[rows[place].originalID] = place }
    }
    return newest.values.sorted().map { rows[$0] }
  }

  private static func row(
    _ transaction: CustomerFacts.Transaction, _ place: Int, _ posted: (place: Int, purchase: ReceiptPurchase)?,
    _ readings: RuleOptions
  ) -> LatestReceiptInfoRow {
    let facts = transaction.facts
    let purchase = posted?.purchase
    let receipts = purchase?.transactionID
    let own = facts.text(.transactionId)
    let id =
      (readings.identityIsReceipts
        ? receipts ?? transaction.answered?.transactionID ?? own
        : own ?? transaction.answered?.transactionID ?? receipts) ?? ""
    let expires = facts.date(.expiresDate) ?? purchase?.expiresDate
    let purchased = facts.date(.purchaseDate) ?? purchase?.purchaseDate
    return LatestReceiptInfoRow(
      signed: place, posted: posted?.place,
      originalID: facts.text(.originalTransactionId) ?? purchase?.originalIdentity ?? id,
      kind: kind(facts, purchase), purchasedAt: purchased?.sinceEpoch ?? 0, expiresAt: expires?.sinceEpoch,
      isUpgraded: facts.flag(.isUpgraded) ?? false,
      isDead: facts.flag(.isUpgraded) == true || facts[.revocationDate] != nil, number: Int64(id) ?? 0,
      transactionID: id)
  }

  private static func row(_ purchase: ReceiptPurchase, _ place: Int) -> LatestReceiptInfoRow {
    let id = purchase.transactionID ?? ""
    return LatestReceiptInfoRow(
      signed: nil, posted: place, originalID: purchase.originalIdentity ?? id, kind: kind(nil, purchase),
      purchasedAt: purchase.purchaseDate?.sinceEpoch ?? 0, expiresAt: purchase.expiresDate?.sinceEpoch,
      isUpgraded: false, isDead: purchase.cancellationDate != nil, number: Int64(id) ?? 0, transactionID: id)
  }

  private static func kind(_ facts: Facts<PurchaseField>?, _ purchase: ReceiptPurchase?) -> LatestReceiptInfoRow.Kind {
    if let type = facts?.text(.type) {
      if type == "Consumable" { return .consumable }
      if type == "Auto-Renewable Subscription" { return .subscription }
      return .other
    }
    if purchase?.productType == .consumable { return .consumable }
    let hasEnd = facts?.date(.expiresDate) ?? purchase?.expiresDate
    return purchase?.productType == .autoRenewable || hasEnd != nil ? .subscription : .other
  }
}

/// The purchases of a receipt by what identifies them in V2: the line, else the originalTransactionId.
///
/// Ids of transactions change with every restore, so they tell nothing.
private struct PostedPurchases {
  private var lines: [Int64: Int] = [:]
  private var originals: [String: Int] = [:]
  private var isTaken: [Bool]

  init(_ receipt: AppReceipt) {
    isTaken = Array(repeating: false, count: receipt.purchases.count)
    lines.reserveCapacity(receipt.purchases.count)
    for place in receipt.purchases.indices {
      if let line = receipt.purchases[place].webOrderLineItemID {
        lines[line] = lines[line] ?? place
      } else if let original = receipt.purchases[place].originalIdentity {
        originals[original] = originals[original] ?? place
      }
    }
  }

  /// The place of the purchase that `facts` are about; each is given once.
  mutating func take(_ facts: Facts<PurchaseField>) -> Int? {
    let line = facts.text(.webOrderLineItemId).flatMap { Int64($0) } ?? 0
    let place =
      line != 0
      ? lines[line] : facts.text(.originalTransactionId).flatMap { originals[$0] }
    guard let place, !isTaken[place] else { return nil }
    isTaken[place] = true
    return place
  }

  /// Those that nobody took.
  var rest: [Int] { isTaken.indices.filter { !isTaken[$0] } }
}

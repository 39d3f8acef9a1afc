import JSON
import Mappings
import Purchases
import Receipts
import Time
import Wire

/// Puts every field of two answers about one receipt into one count.
struct FidelityComparison {
  private let theirs: FlattenedResponse
  private let ours: FlattenedResponse
  private let made: [String: ExplainedField]
  private let implied: ImpliedFacts
  private let rule: (ResponseRuleTable.Rule) -> String
  /// Rows of Apple's `latest_receipt_info` that V2 tells nothing of, and those that the receipt has.
  private let untellable: Set<String>
  private let posted: Set<String>
  /// The rows of Apple's `latest_receipt_info`, by their keys.
  private let rows: [String: V1TransactionRow]
  private var report: FidelityReport

  init(
    theirs: JSONObject, ours: JSONObject, explained: [ExplainedField], implied: ImpliedFacts, receipt: Receipt,
    naming rowName: FlattenedResponse.RowName, rules: @escaping (ResponseRuleTable.Rule) -> String
  ) {
    self.theirs = FlattenedResponse(theirs, naming: rowName)
    self.ours = FlattenedResponse(ours, naming: rowName)
    self.implied = implied
    rule = rules
    made = Dictionary(explained.map { ($0.path, $0) }) { first, _ in first }
    let latest = VerifyReceiptResponse(theirs).latestReceiptInfo ?? []
    let keys = self.theirs.latest
    rows = Dictionary(zip(keys, latest)) { first, _ in first }
    untellable = Set(implied.untellable.map { keys[$0] })
    if case .app(let receipt) = receipt {
      let lines = Set(receipt.purchases.compactMap(\.webOrderLineItemID).map { "\($0)" })
      let originals = Set(receipt.purchases.filter { $0.webOrderLineItemID == nil }.compactMap(\.originalIdentity))
      posted = Set(
        zip(keys, latest).filter { _, row in
          row.webOrderLineItemID.map(lines.contains) ?? row.originalTransactionID.map(originals.contains) ?? false
        }.map(\.0))
    } else {
      posted = []
    }
    report = FidelityReport(
      requestDate: implied.date, excludesOldTransactions: implied.excludesOldTransactions)
  }

  mutating func compared() -> FidelityReport {
    let ourValues = Dictionary(ours.leaves.map { ($0.key, ($0.path, $0.value)) }) { first, _ in first }
    var seen: Set<String> = []
    for leaf in theirs.leaves {
      seen.insert(leaf.key)
      if let row = row(of: leaf.key), untellable.contains(row) { continue }
      compare(leaf, with: ourValues[leaf.key])
    }
    for leaf in ours.leaves where !seen.contains(leaf.key) {
      report.fields += 1
      differ(leaf.key, leaf.path, nil, leaf.value, made[leaf.path]?.rule ?? "-")
    }
    for _ in untellable {
      report.fields += 1
      report.unavailableRows += 1
      count(\.unavailable, rule(.finishedRow))
    }
    compareOrder()
    return report
  }

  private mutating func compare(
    _ leaf: (key: String, path: String, value: JSONValue), with own: (path: String, value: JSONValue)?
  ) {
    report.fields += 1
    let field = own.flatMap { made[$0.path] }
    if field?.origin == .echoed {
      count(\.echoed, rule(.newReceipt))
    } else if own?.value == leaf.value {
      switch field?.origin {
      case .signed, .answered: count(\.derived, field?.rule ?? "-")
      case .receipt, .composed, .echoed, nil: count(\.exact, field?.rule ?? "-")
      }
    } else if let own, let reason = unavailable(leaf, own.value) {
      count(\.unavailable, reason)
    } else {
      differ(leaf.key, leaf.path, leaf.value, own?.value, field?.rule ?? "-")
    }
  }

  /// The rule that says why nothing but Apple's own answer could tell the value.
  private func unavailable(_ leaf: (key: String, path: String, value: JSONValue), _ own: JSONValue) -> String? {
    let name = leaf.key.split(separator: ".").last.map(String.init) ?? ""
    if name.hasPrefix("original_purchase_date"), let row = row(of: leaf.key), !posted.contains(row),
      let told = rows[row], let original = told.originalTransactionID, let date = implied.originalDates[original],
      told.originalPurchaseDate != date
    {
      // Ours must still be what V2 states: only Apple's own date is out of reach.
      let stated = V1TransactionRow(["original_purchase_date\(name.dropFirst(22))": own]).originalPurchaseDate
      return stated == nil || stated == date ? rule(.restoredDate) : nil
    }
    if name == "unique_identifier" || name == "unique_vendor_identifier",
      leaf.value.string?.allSatisfy({ $0 == "0" || $0 == "-" }) == true
    {
      return rule(.blankedDevice)
    }
    return nil
  }

  /// The rows that both have must stand in the same order; that is one more field.
  private mutating func compareOrder() {
    let both = Set(theirs.latest).intersection(ours.latest)
    guard both.count > 1 else { return }
    let (left, right) = (theirs.latest.filter(both.contains), ours.latest.filter(both.contains))
    report.fields += 1
    if left == right {
      count(\.exact, rule(.latestOrder))
    } else {
      differ(
        "latest_receipt_info", "latest_receipt_info", .array(left.map(JSONValue.string)),
        .array(right.map(JSONValue.string)),
        rule(.latestOrder))
    }
  }

  private func row(of key: String) -> String? {
    guard key.hasPrefix("latest_receipt_info["), let end = key.firstIndex(of: "]") else { return nil }
    return String(key[...end])
  }

  private mutating func count(_ count: WritableKeyPath<FidelityReport, Int>, _ rule: String) {
    report[keyPath: count] += 1
    report.rules[rule, default: 0] += 1
  }

  private mutating func differ(
    _ key: String, _ path: String, _ theirs: JSONValue?, _ ours: JSONValue?, _ rule: String
  ) {
    report.different.append(FidelityReport.Difference(key: key, path: path, theirs: theirs, ours: ours, rule: rule))
  }
}

import JSON
import Mappings
import Purchases
import Time
import Wire

/// The rows of one V1 body or response, grouped by purchase, with inferred facts.
///
/// `latest_receipt_info` and `in_app` contain the same charges with different fields, and sometimes different
/// transaction IDs. Rows of one purchase are merged, and every ID is kept.
struct V1PurchaseGrouping {
  private struct Name: Hashable {
    let original: String, line: Line
  }

  private(set) var rows: [V1Purchase] = []
  private(set) var unusable = 0
  var longID: LongID? { reader.longID }
  private var reader: V1FactMapping<PurchaseField>
  private let inferences: InferenceTable
  private var places: [Name: Int] = [:]
  private var lists = 0

  init(_ vocabulary: Vocabulary) {
    reader = V1FactMapping(vocabulary)
    inferences = vocabulary.inferences
  }

  /// Adds a list; earlier lists take precedence, and later ones fill in missing fields.
  mutating func add(_ list: [V1TransactionRow]) {
    for row in list {
      let facts = reader.facts(row.json)
      if let purchase = V1Purchase(row, facts, list: lists) { add(purchase) } else { unusable += 1 }
    }
    lists += 1
  }

  mutating func add(_ purchase: V1Purchase) {
    let name = Name(original: purchase.original, line: purchase.line)
    if let place = places[name] {
      rows[place].join(purchase)
    } else {
      places[name] = rows.count
      rows.append(purchase)
    }
  }

  /// Records the revocation date of a row that lacks it.
  mutating func cancel(_ row: V1Purchase, at date: Timestamp) {
    guard let place = places[Name(original: row.original, line: row.line)], rows[place].cancelledAt == nil else {
      return
    }
    rows[place].cancelledAt = date
    if !rows[place].isUpgraded { rows[place].facts.set(.revocationDate, .integer(date.sinceEpoch)) }
  }

  /// Infers facts from the rows, by `inferences.tsv`.
  mutating func infer() {
    var previous: [String: Int] = [:]
    for place in rows.placesInOrder {
      let original = rows[place].original
      if rows[place].isSubscription { infer(.hasSubscriptionMarks, place) }
      if rows[place].facts[.inAppOwnershipType] == nil { infer(.ownershipAbsent, place) }
      if let reason = reason(place, after: previous[original]) { infer(reason, place) }
      if rows[place].isSubscription { previous[original] = place }
    }
  }

  private mutating func infer(_ condition: InferenceTable.Condition, _ place: Int) {
    guard let row = inferences[condition] else { return }
    rows[place].facts.infer(row.field, row.field.kind == .flag ? .bool(row.value == "true") : .string(row.value))
  }

  private func reason(_ place: Int, after previousPlace: Int?) -> InferenceTable.Condition? {
    let row = rows[place]
    if row.facts.isOriginalTransaction { return .isOriginalTransaction }
    if !row.isSubscription { return .isNoSubscription }
    guard let previousPlace else { return nil }
    let previous = rows[previousPlace]
    if previous.isReplaced(by: row) { return .replacesUpgraded }
    guard let ended = previous.facts.date(.expiresDate), let began = row.facts.date(.purchaseDate) else { return nil }
    return began > ended + Self.billingRetry ? .longAfterPrevious : .followsPrevious
  }

  /// The time in which Apple retries the charge of a failed renewal.
  private static let billingRetry = Interval.days(60)
}

struct V1Purchase {
  var facts: Facts<PurchaseField>
  let original: String
  /// `cancellation_date` as written, also for an upgrade.
  var cancelledAt: Timestamp?
  /// Whether it has fields that only auto-renewable subscriptions have.
  private(set) var isSubscription: Bool
  private var otherIDs: Set<String> = []
  private let list: Int

  /// Returns `nil` for a row without any ID.
  init?(_ row: V1TransactionRow, _ facts: Facts<PurchaseField>, list: Int) {
    guard let original = Self.identity(facts.text(.originalTransactionId)) ?? Self.identity(facts.text(.transactionId))
    else { return nil }
    self.facts = facts
    if facts.text(.originalTransactionId) != original { self.facts.set(.originalTransactionId, .string(original)) }
    self.original = original
    self.list = list
    // An upgrade's date is not a revocation.
    cancelledAt = facts.flag(.isUpgraded) == true ? row.cancellationDate : facts.date(.revocationDate)
    isSubscription = facts.isSubscription || row.json["is_in_intro_offer_period"] != nil
  }

  init(original: String, line: String, cancelledAt: Timestamp) {
    var facts = Facts<PurchaseField>()
    facts.set(.originalTransactionId, .string(original))
    facts.set(.webOrderLineItemId, .string(line))
    facts.set(.revocationDate, .integer(cancelledAt.sinceEpoch))
    self.facts = facts
    self.original = original
    self.cancelledAt = cancelledAt
    isSubscription = true
    list = 0
  }

  var furtherTransactionIDs: [String] { otherIDs.sorted() }

  var line: Line {
    Line(
      webOrderLineItemID: facts.text(.webOrderLineItemId), purchaseDate: facts.date(.purchaseDate),
      isSubscription: facts.isSubscription)
  }
  var productID: String? { facts.text(.productId) }
  var isUpgraded: Bool { facts.flag(.isUpgraded) ?? false }
  var purchasedAt: Timestamp? { facts.date(.purchaseDate) }
  var endsAt: Timestamp? { facts.date(.expiresDate) }
  var hasOffer: Bool { facts.text(.offerIdentifier) != nil }

  /// The sort key by date of purchase; missing dates come first.
  var purchaseOrder: (Timestamp, Timestamp, String) {
    (purchasedAt ?? .beforeAll, endsAt ?? .beforeAll, facts.text(.transactionId) ?? "")
  }

  /// Whether `next`, bought after it, replaced it: as its row states, otherwise if another product was bought while it
  /// ran.
  func isReplaced(by next: V1Purchase) -> Bool {
    if isUpgraded { return true }
    guard let end = ranUntil(next), let start = next.purchasedAt else { return false }
    return start < end && productID != next.productID
  }

  /// Whether it had ended when `next` was bought.
  func hasEnded(before next: V1Purchase) -> Bool {
    guard let end = ranUntil(next), let start = next.purchasedAt else { return false }
    return start >= end
  }

  /// Returns its end, or its refund if that preceded `next`.
  ///
  /// Until 2018 an upgrade cancelled the replaced purchase at that time, without a mark.
  private func ranUntil(_ next: V1Purchase) -> Timestamp? {
    guard let cancelledAt, let start = next.purchasedAt, cancelledAt + .seconds(10) < start else { return endsAt }
    return endsAt.map { min($0, cancelledAt) }
  }

  /// Returns `nil` for a missing ID, and for the "0" of Xcode.
  static func identity(_ id: String?) -> String? { id == "" || id == "0" ? nil : id }

  /// Compares by date of purchase, then by content: a total order, so that the order of rows has no effect.
  private func isBelow(_ other: V1Purchase) -> Bool {
    if purchaseOrder != other.purchaseOrder { return purchaseOrder < other.purchaseOrder }
    return facts.encoded().lexicographicallyPrecedes(other.facts.encoded())
  }

  /// Merges another row of the same purchase, in any order.
  mutating func join(_ other: V1Purchase) {
    // Collected in place: a response may name one purchase in each of its 20,000 rows.
    var ids = otherIDs
    otherIDs = []
    let isOther = other.list != list ? other.list < list : isBelow(other)
    let (best, rest) = isOther ? (other, self) : (self, other)
    if ids.count < other.otherIDs.count { ids = other.otherIDs.union(ids) } else { ids.formUnion(other.otherIDs) }
    for id in [best, rest].compactMap({ $0.facts.text(.transactionId) }) { ids.insert(id) }
    self = best
    for (field, value) in rest.facts.known where facts[field] == nil {
      if isUpgraded, field == .revocationDate || field == .revocationReason { continue }
      facts.set(field, value)
    }
    cancelledAt = best.cancelledAt ?? rest.cancelledAt
    isSubscription = best.isSubscription || rest.isSubscription
    if let id = facts.text(.transactionId) { ids.remove(id) }
    otherIDs = ids
  }
}

extension [V1Purchase] {
  /// The indexes by date of purchase, because moving purchases while sorting is slow.
  var placesInOrder: [Int] {
    indices.map { (place: $0, order: self[$0].purchaseOrder) }.sorted { $0.order < $1.order }.map(\.place)
  }
}

extension Timestamp {
  static let beforeAll = Timestamp(.min)
}

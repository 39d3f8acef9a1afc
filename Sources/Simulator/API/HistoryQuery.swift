import HTTPServer
import Signing
import Time

struct HistoryQuery: Hashable, Sendable {
  var revision: HistoryRevision?
  /// The purchase date, inclusive; `endDate` is exclusive.
  var startDate: Timestamp?
  var endDate: Timestamp?
  /// Empty means any.
  var productIDs: Set<String> = []
  var kinds: Set<Product.Kind> = []
  var groups: Set<String> = []
  var isDescending = false
  var ownership: SimulatedTransaction.Ownership?
  var isRevoked: Bool?

  init(_ head: HTTPRequestHead) throws(APIErrorCode) {
    for (name, value) in head.query { try take(name, value) }
    if let startDate, let endDate, startDate >= endDate { throw .startDateAfterEndDate }
  }

  private mutating func take(_ name: String, _ value: String) throws(APIErrorCode) {
    switch name {
    case "revision":
      guard let value = HistoryRevision(value) else { throw .invalidRequestRevision }
      revision = value
    case "startDate":
      guard let value = Int64(value), value >= 0 else { throw .invalidStartDate }
      startDate = Timestamp(value)
    case "endDate":
      guard let value = Int64(value), value >= 0 else { throw .invalidEndDate }
      endDate = Timestamp(value)
    case "productId":
      guard !value.isEmpty else { throw .invalidProductId }
      productIDs.insert(value)
    case "productType":
      guard let kind = Self.kinds[value] else { throw .invalidProductType }
      kinds.insert(kind)
    case "subscriptionGroupIdentifier":
      guard !value.isEmpty else { throw .invalidSubscriptionGroupIdentifier }
      groups.insert(value)
    case "sort":
      guard ["ASCENDING", "DESCENDING"].contains(value) else { throw .invalidSort }
      isDescending = value == "DESCENDING"
    case "inAppOwnershipType":
      guard let value = SimulatedTransaction.Ownership(rawValue: value) else { throw .invalidInAppOwnershipType }
      ownership = value
    case "revoked":
      guard let value = Bool(value) else { throw .invalidRevoked }
      isRevoked = value
    case "excludeRevoked":
      guard let value = Bool(value) else { throw .invalidExcludeRevoked }
      if value { isRevoked = false }
    default: return
    }
  }

  private static let kinds: [String: Product.Kind] = [
    "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
    "NON_CONSUMABLE": .nonConsumable,
  ]

  func matches(_ transaction: SimulatedTransaction) -> Bool {
    startDate.map { transaction.purchaseDate >= $0 } ?? true
      && endDate.map { transaction.purchaseDate < $0 } ?? true
      && (productIDs.isEmpty || productIDs.contains(transaction.product.id))
      && (kinds.isEmpty || kinds.contains(transaction.product.kind))
      && (groups.isEmpty || transaction.product.subscriptionGroupID.map(groups.contains) ?? false)
      && ownership.map { $0 == transaction.ownership } ?? true
      && isRevoked.map { $0 == (transaction.revocation != nil) } ?? true
  }
}

/// A position in a customer's history: the last modification and the ID of the last returned row.
///
/// Its text has Apple's format, `1636461115000_1000000907164221`; clients must not read it.
struct HistoryRevision: Hashable, Comparable, Sendable, CustomStringConvertible {
  let modifiedAt: Timestamp
  let transactionID: String

  init(_ modifiedAt: Timestamp, _ transactionID: String) {
    self.modifiedAt = modifiedAt
    self.transactionID = transactionID
  }

  init?(_ text: String) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, let date = Int64(parts[0]), !parts[1].isEmpty, parts[1].allSatisfy(\.isNumber) else {
      return nil
    }
    self.init(Timestamp(date), String(parts[1]))
  }

  var description: String { "\(modifiedAt.sinceEpoch)_\(transactionID)" }

  static func < (a: Self, b: Self) -> Bool {
    // IDs of one customer have one length.
    (a.modifiedAt, a.transactionID) < (b.modifiedAt, b.transactionID)
  }
}

/// At most 20 rows, and the revision of the next page.
struct HistoryPage<Row> {
  let rows: [Row]
  /// `nil` if no row was ever returned.
  let revision: HistoryRevision?
  let hasMore: Bool
  static var limit: Int { 20 }

  /// - Parameter rows: in any order; the page holds those after `revision`.
  init(_ rows: [(revision: HistoryRevision, row: Row)], after revision: HistoryRevision?, isDescending: Bool) {
    var rest = rows.sorted { isDescending ? $0.revision > $1.revision : $0.revision < $1.revision }
    if let revision { rest.removeAll { isDescending ? $0.revision >= revision : $0.revision <= revision } }
    self.rows = rest.prefix(Self.limit).map(\.row)
    self.revision = rest.prefix(Self.limit).last?.revision ?? revision
    hasMore = rest.count > Self.limit
  }
}

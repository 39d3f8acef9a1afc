public import Time

/// Which transactions Get Transaction History gives; the same on every page.
///
/// Apple: TransactionHistoryRequest.
public struct HistoryFilter: Sendable {
  public enum Sort: String, Sendable, CaseIterable {
    /// By the date of the last change, the earliest first: Apple's default.
    case ascending = "ASCENDING"
    case descending = "DESCENDING"
  }

  public enum ProductType: String, Sendable, CaseIterable {
    case autoRenewable = "AUTO_RENEWABLE"
    case nonRenewable = "NON_RENEWABLE"
    case consumable = "CONSUMABLE"
    case nonConsumable = "NON_CONSUMABLE"
  }

  /// Of the purchase, the beginning included and the end not.
  public var startDate: Timestamp?
  public var endDate: Timestamp?
  public var productIDs: [String] = []
  public var productTypes: [ProductType] = []
  public var sort: Sort?
  public var subscriptionGroupIdentifiers: [String] = []
  /// PURCHASED or FAMILY_SHARED.
  public var inAppOwnershipType: String?
  /// Only revoked ones, or only others.
  public var revoked: Bool?

  public init() {}

  /// In Apple's order of parameters.
  var query: [(name: String, value: String)] {
    var query: [(name: String, value: String)] = []
    if let startDate { query.append(("startDate", String(startDate.sinceEpoch))) }
    if let endDate { query.append(("endDate", String(endDate.sinceEpoch))) }
    query += productIDs.map { ("productId", $0) }
    query += productTypes.map { ("productType", $0.rawValue) }
    if let sort { query.append(("sort", sort.rawValue)) }
    query += subscriptionGroupIdentifiers.map { ("subscriptionGroupIdentifier", $0) }
    if let inAppOwnershipType { query.append(("inAppOwnershipType", inAppOwnershipType)) }
    if let revoked { query.append(("revoked", revoked ? "true" : "false")) }
    return query
  }
}

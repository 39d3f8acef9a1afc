package import Time

/// Which transactions Get Transaction History gives; the same on every page.
///
/// Apple: TransactionHistoryRequest.
package struct HistoryFilter: Sendable {
  package enum Sort: String, Sendable, CaseIterable {
    /// By the date of the last change, the earliest first: Apple's default.
    case ascending = "ASCENDING"
    case descending = "DESCENDING"
  }

  package enum ProductType: String, Sendable, CaseIterable {
    case autoRenewable = "AUTO_RENEWABLE"
    case nonRenewable = "NON_RENEWABLE"
    case consumable = "CONSUMABLE"
    case nonConsumable = "NON_CONSUMABLE"
  }

  /// Of the purchase, the beginning included and the end not.
  package var startDate: Milliseconds?
  package var endDate: Milliseconds?
  package var productIDs: [String] = []
  package var productTypes: [ProductType] = []
  package var sort: Sort?
  package var subscriptionGroupIdentifiers: [String] = []
  /// PURCHASED or FAMILY_SHARED.
  package var inAppOwnershipType: String?
  /// Only revoked ones, or only others.
  package var revoked: Bool?

  package init() {}

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

public import Time

/// One charge or grant as all sources together tell it.
public struct Purchase: Hashable, Sendable {
  public let key: PurchaseKey
  public let folded: Folded<PurchaseField>

  public var facts: Facts<PurchaseField> { folded.facts }

  public var productID: String? { facts.text(.productId) }
  public var purchaseDate: Milliseconds? { facts.date(.purchaseDate) }
  public var expiresDate: Milliseconds? { facts.date(.expiresDate) }
  public var revocationDate: Milliseconds? { facts.date(.revocationDate) }
  public var isUpgraded: Bool { facts.flag(.isUpgraded) ?? false }

  /// Whether this is a period of an auto-renewable subscription: as stated, else by what only such have.
  public var isSubscription: Bool { facts.isSubscription }

  /// The purchases that `statements` are about, by purchase date; statements of one originalTransactionId, or of several.
  ///
  /// A statement without a named line and one with it are of the same purchase when they share a transaction id or the
  /// second of purchase.
  public static func fold(_ statements: [PurchaseStatement], rules: FoldRules<PurchaseField>) -> [Purchase] {
    let latest = Statement.latest(of: statements)
    let identities = PurchaseIdentities(latest)
    let groups = Dictionary(grouping: latest) { identities[$0.key] }
    return groups.compactMap { key, statements in
      Folded(statements, rules: rules).map { Purchase(key: key, folded: $0) }
    }.sorted { ($0.order, $0.key) < ($1.order, $1.key) }
  }

  private var order: Milliseconds { purchaseDate ?? Milliseconds(.max) }
}

extension Facts<PurchaseField> {
  /// Whether they describe a period of an auto-renewable subscription: as stated, else by what only such have.
  public var isSubscription: Bool {
    if let type = text(.type) { return type == "Auto-Renewable Subscription" }
    if self[.expiresDate] != nil || self[.subscriptionGroupIdentifier] != nil { return true }
    guard let lineItem = text(.webOrderLineItemId) else { return false }
    return lineItem != "" && lineItem != "0"
  }
}

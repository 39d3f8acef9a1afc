public import Time

/// One charge or grant as all sources together tell it.
public struct Purchase: Hashable, Sendable {
  public let key: PurchaseKey
  public let resolved: Resolved<PurchaseField>
  /// What each source said of it, by authority, whatever line it was said of.
  public let statements: [PurchaseStatement]

  public var facts: Facts<PurchaseField> { resolved.facts }

  public var productID: String? { facts.text(.productId) }
  public var purchaseDate: Timestamp? { facts.date(.purchaseDate) }
  public var expiresDate: Timestamp? { facts.date(.expiresDate) }
  public var revocationDate: Timestamp? { facts.date(.revocationDate) }
  public var isUpgraded: Bool { facts.flag(.isUpgraded) ?? false }

  /// Whether this is a period of an auto-renewable subscription: as stated, else by what only such have.
  public var isSubscription: Bool { facts.isSubscription }

  /// The purchases that `statements` are about, by purchase date; statements of one originalTransactionId, or of several.
  ///
  /// A statement without a named line and one with it are of the same purchase when they share a transaction id or the
  /// second of purchase. A period that ran when another product was bought is supposed to be upgraded, until somebody
  /// states how it stands.
  public static func fold(_ statements: [PurchaseStatement], rules: FoldRules<PurchaseField>) -> [Purchase] {
    let latest = Statement.latest(of: statements)
    let identities = PurchaseIdentities(latest)
    // In the order in which they come, which is mostly that of purchase: what is in order is sorted at once.
    var places: [PurchaseKey: Int] = [:]
    var groups: [(key: PurchaseKey, statements: [PurchaseStatement])] = []
    places.reserveCapacity(latest.count)
    groups.reserveCapacity(latest.count)
    for statement in latest {
      let key = identities[statement.key]
      if let place = places[key] {
        groups[place].statements.append(statement)
      } else {
        places[key] = groups.count
        groups.append((key, [statement]))
      }
    }
    let purchases = groups.compactMap { key, statements -> Purchase? in
      let ordered =
        statements.count == 1
        ? statements
        : statements.sorted { a, b in b.isOutranked(by: a) || (!a.isOutranked(by: b) && a.key < b.key) }
      return Resolved(ordered, rules: rules).map { Purchase(key: key, resolved: $0, statements: ordered) }
    }
    return Upgrades.marked(inOrder(purchases), rules: rules)
  }

  /// By purchase date, then by key: their dates are compared, not they themselves moved about.
  static func inOrder(_ purchases: [Purchase]) -> [Purchase] {
    let dates = purchases.map(\.order)
    func comes(_ a: Int, before b: Int) -> Bool {
      dates[a] != dates[b] ? dates[a] < dates[b] : purchases[a].key < purchases[b].key
    }
    if purchases.indices.dropFirst().allSatisfy({ !comes($0, before: $0 - 1) }) { return purchases }
    return purchases.indices.sorted { comes($0, before: $1) }.map { purchases[$0] }
  }

  /// The purchase as the signed sources alone tell it; nil when none of them does.
  public var signed: Purchase? {
    // As most are: nobody else told of it.
    if resolved.isSigned { return self }
    return resolved.signed.map {
      Purchase(key: signedKey, resolved: $0, statements: statements.filter(\.source.isSigned))
    }
  }

  /// The best key that signed sources have for it; `key` where nothing is signed.
  ///
  /// A claim brings what it says to the purchase. It does not name it: the line may be made up.
  public var signedKey: PurchaseKey {
    if resolved.isSigned { return key }
    let keys = statements.filter(\.source.isSigned).map(\.key)
    return keys.dropFirst().reduce(keys.first ?? key, PurchaseIdentities.better)
  }

  /// The purchase by its signed sources if it has any, otherwise by all sources.
  public var shown: Purchase { signed ?? self }

  /// Whether a signed source vouches for it, and no other contradicts it about a revocation.
  public var isConfirmed: Bool {
    guard let signed = resolved.signed else { return false }
    return (signed.facts[.revocationDate] == nil) == (revocationDate == nil)
  }

  /// Whether `event` is about this purchase, by any line or transaction id that was ever said of it.
  public func isTold(by event: Event) -> Bool {
    guard event.app == key.app, event.environment == key.environment,
      event.originalTransactionID == key.originalTransactionID
    else { return false }
    return statements.contains { statement in
      if let line = event.line, line == statement.key.line { return true }
      guard let id = event.transactionID, id != "", id != "0" else { return false }
      return id == statement.facts.text(.transactionId)
    }
  }

  private var order: Timestamp { purchaseDate ?? Timestamp(.max) }
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

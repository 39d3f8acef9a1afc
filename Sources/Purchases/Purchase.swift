public import Time

/// One charge or grant by all sources.
public struct Purchase: Hashable, Sendable {
  public let key: PurchaseKey
  public let resolved: Resolved<PurchaseField>
  /// The statements of each source, by authority, under any line.
  public let statements: [PurchaseStatement]

  public var facts: Facts<PurchaseField> { resolved.facts }

  public var productID: String? { facts.text(.productId) }
  public var purchaseDate: Timestamp? { facts.date(.purchaseDate) }
  public var expiresDate: Timestamp? { facts.date(.expiresDate) }
  public var revocationDate: Timestamp? { facts.date(.revocationDate) }
  public var isUpgraded: Bool { facts.flag(.isUpgraded) ?? false }

  /// Whether this is a period of an auto-renewable subscription, as stated, otherwise by its fields.
  public var isSubscription: Bool { facts.isSubscription }

  /// Returns the purchases of the statements, by purchase date.
  ///
  /// A statement without a named line and one with it belong to one purchase if they share a transaction ID or the
  /// second of purchase. A period during which another product was bought counts as upgraded until a source states its
  /// state.
  public static func fold(_ statements: [PurchaseStatement], rules: FoldRules<PurchaseField>) -> [Purchase] {
    let latest = Statement.latest(of: statements)
    let identities = PurchaseIdentities(latest)
    // In order of arrival, which is mostly the order of purchase, so that the sort is fast.
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

  /// Sorts by purchase date, then by key.
  ///
  /// It compares dates instead of moving purchases.
  static func inOrder(_ purchases: [Purchase]) -> [Purchase] {
    let dates = purchases.map(\.order)
    func comes(_ a: Int, before b: Int) -> Bool {
      dates[a] != dates[b] ? dates[a] < dates[b] : purchases[a].key < purchases[b].key
    }
    if purchases.indices.dropFirst().allSatisfy({ !comes($0, before: $0 - 1) }) { return purchases }
    return purchases.indices.sorted { comes($0, before: $1) }.map { purchases[$0] }
  }

  /// The purchase by only the signed sources, or `nil` without any.
  public var signed: Purchase? {
    // Most purchases have only signed sources.
    if resolved.isSigned { return self }
    return resolved.signed.map {
      Purchase(key: signedKey, resolved: $0, statements: statements.filter(\.source.isSigned))
    }
  }

  /// The best key from signed sources.
  ///
  /// Without any, `key`. A claim adds statements to the purchase but does not name it: its line may be invented.
  public var signedKey: PurchaseKey {
    if resolved.isSigned { return key }
    let keys = statements.filter(\.source.isSigned).map(\.key)
    return keys.dropFirst().reduce(keys.first ?? key, PurchaseIdentities.better)
  }

  /// The purchase by its signed sources if it has any, otherwise by all sources.
  public var shown: Purchase { signed ?? self }

  /// Whether a signed source confirms it, and no other contradicts it about a revocation.
  public var isConfirmed: Bool {
    guard let signed = resolved.signed else { return false }
    return (signed.facts[.revocationDate] == nil) == (revocationDate == nil)
  }

  /// Whether `event` reports this purchase, by any of its lines or transaction IDs.
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
  /// Whether they describe a period of an auto-renewable subscription, as stated, otherwise by its fields.
  public var isSubscription: Bool {
    if let type = text(.type) { return type == "Auto-Renewable Subscription" }
    if self[.expiresDate] != nil || self[.subscriptionGroupIdentifier] != nil { return true }
    guard let lineItem = text(.webOrderLineItemId) else { return false }
    return lineItem != "" && lineItem != "0"
  }
}

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

  /// Whether this is a period of an auto-renewable subscription: as stated, else because only such have an expiry and a group.
  public var isSubscription: Bool { facts.isSubscription }

  /// The purchases that `statements` are about, by purchase date; statements of one customer's originalTransactionId, or of several.
  ///
  /// A statement without a named line and one with it are of the same purchase when they share a transaction id.
  public static func fold(_ statements: [PurchaseStatement], rules: FoldRules<PurchaseField>) -> [Purchase] {
    let keys = unifiedKeys(statements)
    let groups = Dictionary(grouping: statements) { keys[$0.key] ?? $0.key }
    return groups.compactMap { key, statements in
      Folded(statements, rules: rules).map { Purchase(key: key, folded: $0) }
    }.sorted { ($0.order, $0.key) < ($1.order, $1.key) }
  }

  private var order: Milliseconds { purchaseDate ?? Milliseconds(.max) }

  /// For each key without a named line the named one that shares a transaction id with it; the smallest when several do.
  private static func unifiedKeys(_ statements: [PurchaseStatement]) -> [PurchaseKey: PurchaseKey] {
    struct Alias: Hashable {
      var app: String, environment: Environment, original: String, transaction: String
    }
    func alias(_ statement: PurchaseStatement) -> Alias? {
      statement.facts.text(.transactionId).map {
        Alias(
          app: statement.key.app, environment: statement.key.environment,
          original: statement.key.originalTransactionID, transaction: $0)
      }
    }
    var named: [Alias: PurchaseKey] = [:]
    for statement in statements where statement.key.line.isNamed {
      guard let alias = alias(statement) else { continue }
      named[alias] = min(named[alias] ?? statement.key, statement.key)
    }
    var unified: [PurchaseKey: PurchaseKey] = [:]
    for statement in statements where !statement.key.line.isNamed {
      if let alias = alias(statement), let key = named[alias] { unified[statement.key] = key }
    }
    return unified
  }
}

extension PurchaseKey: Comparable {
  public static func < (a: Self, b: Self) -> Bool {
    (a.app, a.environment, a.originalTransactionID, a.line) < (b.app, b.environment, b.originalTransactionID, b.line)
  }
}

extension Facts<PurchaseField> {
  /// Whether they describe a period of an auto-renewable subscription: as stated, else by what only such have.
  public var isSubscription: Bool {
    if let type = text(.type) { return type == "Auto-Renewable Subscription" }
    return self[.subscriptionGroupIdentifier] != nil || (self[.expiresDate] != nil && self[.webOrderLineItemId] != nil)
  }
}

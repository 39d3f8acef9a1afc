import JSON
import Time

/// The purchases that another one replaced during their period, by their dates and products.
///
/// Apple reports an upgrade only in the new purchase, and states the replacement only in a lookup. But one
/// originalTransactionId has another product during a period only as a replacement. Sources: the marks in Apple's own
/// responses, and Apple, "Auto-renewable subscriptions", ranking subscriptions within a group.
struct Upgrades {
  /// The origin of each replacing purchase.
  private(set) var replaced: [PurchaseKey: FieldOrigin] = [:]

  /// - Parameter purchases: by purchase date.
  init(_ purchases: [Purchase], rules: FoldRules<PurchaseField>) {
    // The next purchase of another product of each originalTransactionId, from the last to the first.
    var following: [SubscriptionKey: (last: Purchase, other: Purchase?)] = [:]
    for purchase in purchases.reversed() where purchase.isVouchedPeriod {
      let next = following[purchase.key.subscription]
      let other = next.flatMap { $0.last.productID == purchase.productID ? $0.other : $0.last }
      following[purchase.key.subscription] = (purchase, other)
      guard let other, purchase.isReplaced(by: other), let teller = other.resolved.origins[.purchaseDate] else {
        continue
      }
      replaced[purchase.key] = FieldOrigin(
        source: teller.source, asOf: teller.asOf, message: teller.message, rule: rules[.isUpgraded].id,
        isInferred: true)
    }
  }

  /// Returns `purchases` with the replaced ones marked, for all sources and for only the signed ones.
  static func marked(_ purchases: [Purchase], rules: FoldRules<PurchaseField>) -> [Purchase] {
    // By all sources: a claim may state another product than the signed one.
    let products = Set(purchases.flatMap(\.statements).compactMap { $0.facts.text(.productId) })
    guard products.count > 1 else { return purchases }
    let all = Upgrades(purchases, rules: rules).replaced
    // By their own dates: a claimed date must not change which signed period replaced another.
    let signed = Upgrades(Purchase.inOrder(purchases.compactMap(\.signed)), rules: rules).replaced
    if all.isEmpty, signed.isEmpty { return purchases }
    return purchases.map { purchase in
      let resolved = purchase.resolved.supposing(
        .isUpgraded, true, as: all[purchase.key], ofSigned: signed[purchase.signedKey])
      return Purchase(key: purchase.key, resolved: resolved, statements: purchase.statements)
    }
  }
}

extension Purchase {
  /// Whether its data is verified: an unverified receipt replaces no purchase.
  fileprivate var isVouchedPeriod: Bool {
    isSubscription && purchaseDate != nil && productID != nil
      && resolved.origins[.purchaseDate]?.source != .unverifiedReceipt
      && resolved.origins[.productId]?.source != .unverifiedReceipt
  }

  /// Whether `other` was bought during this period, to the second, and no later source states its state.
  ///
  /// A refunded period was not replaced. Later signed data states its own state.
  fileprivate func isReplaced(by other: Purchase) -> Bool {
    guard facts[.isUpgraded] == nil, revocationDate == nil, let start = purchaseDate, let end = expiresDate,
      let bought = other.purchaseDate, start.wholeSeconds < bought.wholeSeconds, bought.wholeSeconds < end.wholeSeconds
    else { return false }
    return !statements.contains { $0.source.speaksByAbsence && $0.rank.asOf > bought }
  }
}

import JSON
import Time

/// Which purchases another one replaced while they ran, as their own dates and products show.
///
/// Apple tells of an upgrade in the new purchase alone; that the earlier one was replaced is stated only when somebody asks
/// for it. But below one originalTransactionId no other product is bought while a period runs, except to replace it: so
/// say the marks in Apple's own answers, and Apple, "Auto-renewable subscriptions", ranking subscriptions within a group.
struct Upgrades {
  /// Who told of the purchase that replaced each of these.
  private(set) var replaced: [PurchaseKey: FieldOrigin] = [:]

  /// - Parameter purchases: by purchase date.
  init(_ purchases: [Purchase], rules: FoldRules<PurchaseField>) {
    // The next purchase of another product below each originalTransactionId, told from the last to the first.
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

  /// `purchases` with those marked that were replaced, as all sources together tell it and as the signed ones alone do.
  static func marked(_ purchases: [Purchase], rules: FoldRules<PurchaseField>) -> [Purchase] {
    // As each source names it: of a signed product something else may be claimed.
    let products = Set(purchases.flatMap(\.statements).compactMap { $0.facts.text(.productId) })
    guard products.count > 1 else { return purchases }
    let all = Upgrades(purchases, rules: rules).replaced
    // By their own dates: what is claimed of a date must not change which signed period replaced which.
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
  /// A stranger's word replaces nothing.
  fileprivate var isVouchedPeriod: Bool {
    isSubscription && purchaseDate != nil && productID != nil
      && resolved.origins[.purchaseDate]?.source != .unverifiedReceipt
      && resolved.origins[.productId]?.source != .unverifiedReceipt
  }

  /// Whether `other` was bought while this ran, to the second, and nobody says how it stands since.
  ///
  /// What was taken back was not replaced; signed data that is later says by itself how it stands.
  fileprivate func isReplaced(by other: Purchase) -> Bool {
    guard facts[.isUpgraded] == nil, revocationDate == nil, let start = purchaseDate, let end = expiresDate,
      let bought = other.purchaseDate, start.wholeSeconds < bought.wholeSeconds, bought.wholeSeconds < end.wholeSeconds
    else { return false }
    return !statements.contains { $0.source.speaksByAbsence && $0.rank.asOf > bought }
  }
}

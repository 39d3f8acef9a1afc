import JSON
import Time

/// What an upgrade does to the period it replaces, and tells of the new period alone.
extension [Purchase] {
  /// The same purchases, with an inferred `isUpgraded` on each period that another one replaced while it ran.
  ///
  /// Periods below one originalTransactionId follow one another. One of another product that was bought before this one
  /// ended replaced it, unless it had been refunded by then. Who spoke of the earlier period afterwards, and speaks by
  /// absence, has said itself whether it was upgraded. Apple: isUpgraded; DID_CHANGE_RENEWAL_PREF/UPGRADE.
  func markingReplaced() -> Self {
    guard count > 1 else { return self }
    let periods = Dictionary(grouping: indices.filter { self[$0].isSubscription }) { self[$0].key.subscription }
    var marked = self
    for places in periods.values where places.count > 1 {
      for place in places {
        let next = places.lazy.compactMap { self[place].replacement(by: self[$0]) }.first
        if let next { marked[place] = self[place].replaced(told: next) }
      }
    }
    return marked
  }
}

extension Purchase {
  /// Where it is known from that `other` replaced this period; nil when it did not.
  fileprivate func replacement(by other: Purchase) -> Provenance? {
    guard !isUpgraded, let product = productID, let otherProduct = other.productID, product != otherProduct,
      let start = purchaseDate, let end = expiresDate, let date = other.purchaseDate,
      start.wholeSeconds < date.wholeSeconds, date.wholeSeconds < end.wholeSeconds,
      // A receipt that nobody verified has no vote on it.
      let told = other.folded.provenance[.purchaseDate], told.source != .unverifiedReceipt
    else { return nil }
    if let revocationDate, revocationDate.wholeSeconds <= date.wholeSeconds { return nil }
    if statements.contains(where: { $0.source.speaksByAbsence && $0.rank.asOf >= date }) { return nil }
    return told
  }

  fileprivate func replaced(told: Provenance) -> Purchase {
    Purchase(key: key, folded: folded.inferring(.isUpgraded, true, from: told), statements: statements)
  }
}

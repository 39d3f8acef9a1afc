package struct Product: Hashable, Sendable {
  /// Apple's four types; the raw value is the payload's `type`.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case autoRenewable = "Auto-Renewable Subscription"
    case nonConsumable = "Non-Consumable"
    case consumable = "Consumable"
    case nonRenewing = "Non-Renewing Subscription"
  }

  package var id: String
  package var kind: Kind
  /// In thousandths of a US dollar.
  package var price: Int64
  /// `nil` unless the product renews.
  package var period: Period?
  /// `nil` unless the product renews.
  package var subscriptionGroupID: String?
  /// The level in the subscription group.
  ///
  /// 1 is the highest, and several products can share a level.
  package var level = 1
  /// The offers that replace the price; at most one is introductory.
  package var offers: [Offer] = []
  package var isFamilyShareable = false
  /// The number of periods of a commitment, each paid separately; `nil` without a commitment.
  package var commitmentPeriods: Int?

  /// The offer for customers that never subscribed to the group.
  package var introductory: Offer? { offers.first { $0.kind == .introductory } }

  package init(_ kind: Kind, id: String, price: Int64) {
    self.kind = kind
    self.id = id
    self.price = price
  }

  package static func subscription(
    _ id: String, group: String, every period: Period, price: Int64, freeTrial: Period? = nil
  ) -> Self {
    var product = Self(.autoRenewable, id: id, price: price)
    product.period = period
    product.subscriptionGroupID = group
    product.offers = freeTrial.map { [.freeTrial($0)] } ?? []
    return product
  }

  /// Returns a copy at a level of the group, with more offers and optionally Family Sharing.
  package func at(level: Int, offers more: [Offer] = [], isFamilyShareable: Bool = false) -> Self {
    var product = self
    product.level = level
    product.offers += more
    product.isFamilyShareable = isFamilyShareable
    return product
  }
}

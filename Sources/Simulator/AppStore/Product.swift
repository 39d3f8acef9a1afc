/// Something an app sells.
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
  /// Nil unless it renews.
  package var period: Period?
  /// Nil unless it renews.
  package var subscriptionGroupID: String?
  /// The place in its group; 1 is the highest, and equal ones stand side by side.
  package var level = 1
  /// What it may be bought for instead of its price; at most one is introductory.
  package var offers: [Offer] = []
  package var isFamilyShareable = false
  /// How many periods customers commit themselves to, each paid for by itself; nil: to one.
  package var commitmentPeriods: Int?

  /// The offer for who never subscribed to the group before.
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

  /// The same at a level of its group, with more offers and perhaps for the family.
  package func at(level: Int, offers more: [Offer] = [], isFamilyShareable: Bool = false) -> Self {
    var product = self
    product.level = level
    product.offers += more
    product.isFamilyShareable = isFamilyShareable
    return product
  }
}

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
  package var freeTrial: Period?

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
    product.freeTrial = freeTrial
    return product
  }
}

/// A reduced price for which a period was bought; Apple: offerType and its companions.
package struct Offer: Hashable, Sendable {
  /// The raw value is the payload's `offerType`.
  package enum Kind: Int64, Hashable, Sendable, CaseIterable {
    case introductory = 1
    case promotional = 2
    case offerCode = 3
    case winBack = 4
  }

  /// The raw value is the payload's `offerDiscountType`.
  package enum Discount: String, Hashable, Sendable, CaseIterable {
    case freeTrial = "FREE_TRIAL"
    case payAsYouGo = "PAY_AS_YOU_GO"
    case payUpFront = "PAY_UP_FRONT"
  }

  package var kind: Kind
  package var identifier: String?
  package var discount: Discount
  package var period: Period
  /// In thousandths of a US dollar.
  package var price: Int64

  package init(_ kind: Kind, identifier: String? = nil, _ discount: Discount, for period: Period, price: Int64 = 0) {
    self.kind = kind
    self.identifier = identifier
    self.discount = discount
    self.period = period
    self.price = price
  }

  /// The introductory offer that a product begins with.
  package static func freeTrial(_ period: Period) -> Self { Self(.introductory, .freeTrial, for: period) }
}

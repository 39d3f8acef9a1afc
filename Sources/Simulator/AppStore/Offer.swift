/// A reduced price of a period; Apple: offerType and its companions.
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
  /// The number of consecutive periods at this price; more than one only with `payAsYouGo`.
  package var periods = 1

  package init(_ kind: Kind, identifier: String? = nil, _ discount: Discount, for period: Period, price: Int64 = 0) {
    self.kind = kind
    self.identifier = identifier
    self.discount = discount
    self.period = period
    self.price = price
  }

  package static func freeTrial(_ period: Period) -> Self { Self(.introductory, .freeTrial, for: period) }
}

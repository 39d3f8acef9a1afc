import Time

/// A stored charge or grant, from which all its payloads are made.
struct Charge: Hashable, Sendable {
  let id: Int64
  let originalID: Int64
  /// 0 means missing.
  let webOrderLineItemID: Int64
  /// Indexes of the product in the plan, and of the offer in the product; -1 without an offer.
  let product: Int32
  let offer: Int16
  let isShared: Bool
  let isRenewal: Bool
  let quantity: Int32
  /// The time of the charge, for a renewal up to a day before it begins.
  let madeAt: Timestamp
  let purchaseDate: Timestamp
  let originalPurchaseDate: Timestamp
  /// In thousandths of a US dollar.
  let price: Int64
  /// The event that created it.
  let origin: Int32

  var expiresDate: Timestamp?
  var commitment: Commitment?
  var revocation: Revocation?
  var isUpgraded = false
  var isFinished = false
  var modifiedAt: Timestamp
  /// The event of the last change.
  var sequence: Int32
}

/// A stored renewal intent: Apple's next action on a subscription.
struct RenewalIntent: Hashable, Sendable {
  enum Phase: UInt8, Hashable, Sendable {
    /// Paid, or in its last paid period.
    case active
    /// Apple retries the charge, in grace or after it.
    case retry
    case lapsed
    case revoked
  }

  /// The index of the current period in the member's charges.
  var charge: Int32
  var phase = Phase.active
  var nextProduct: Int32
  /// The index of the next period's offer in the next product; -1 without one.
  var nextOffer: Int16 = -1
  var offerPeriods: Int16 = 0
  var willRenew = true
  /// The next period's price without offers, in thousandths of a dollar.
  ///
  /// Every price change is announced first.
  var price: Int64
  var expirationIntent: SimulatedRenewal.ExpirationIntent?
  var isInBillingRetryPeriod: Bool?
  var gracePeriodExpiresDate: Timestamp?
  /// 0: asked, no response.
  ///
  /// 1: agreed, or notified without a question.
  var priceIncreaseStatus: Int64?
  /// The reason why Apple will not renew although the customer wants it.
  var refusal: SimulatedRenewal.ExpirationIntent?
  /// V1 reports consent only if Apple asked for it.
  var isConsentAsked = false
  var recentSubscriptionStartDate: Timestamp
  var renewalDate: Timestamp?
  /// The event of the last change.
  var sequence: Int32
}

/// One customer's subscription within a group; it may lapse and resume.
struct Subscription: Hashable, Sendable {
  let originalID: Int64
  /// The family member and the subscription that this one is shared from.
  let sharer: Sharer?
  /// The renewal intents, oldest first; the last is current.
  var intentions: [RenewalIntent]
  /// Grows with every new period and end, which cancels events planned for an earlier one.
  var generation: Int32 = 0
  var isFailing = false

  struct Sharer: Hashable, Sendable {
    let member: Int
    let subscription: Int
  }

  var intention: RenewalIntent {
    get { intentions[intentions.count - 1] }
    set { intentions[intentions.count - 1] = newValue }
  }

  func intention(asOf sequence: Int32) -> RenewalIntent? { intentions.last { $0.sequence <= sequence } }
}

import Time

/// A charge or grant as a world remembers it: the numbers from which every form of it is made.
struct Charge: Hashable, Sendable {
  let id: Int64
  let originalID: Int64
  /// 0: none.
  let webOrderLineItemID: Int64
  /// Places in the plan: of the product, and of the offer among the product's, -1 for none.
  let product: Int32
  let offer: Int16
  let isShared: Bool
  let isRenewal: Bool
  let quantity: Int32
  /// When it was made; a renewal begins up to a day later.
  let madeAt: Timestamp
  let purchaseDate: Timestamp
  let originalPurchaseDate: Timestamp
  /// In thousandths of a US dollar.
  let price: Int64
  /// The happening that made it.
  let origin: Int32

  var expiresDate: Timestamp?
  var commitment: Commitment?
  var revocation: Revocation?
  var isUpgraded = false
  var isFinished = false
  /// When anything above changed last.
  var modifiedAt: Timestamp
  /// The happening that made it as it is.
  var sequence: Int32
}

/// What Apple intends to do next with a subscription, as a world remembers it.
struct RenewalIntent: Hashable, Sendable {
  enum Phase: UInt8, Hashable, Sendable {
    /// Paid, or in its last paid period.
    case active
    /// Charging is tried, in grace or after it.
    case retry
    case lapsed
    case revoked
  }

  /// The current period, among the member's charges.
  var charge: Int32
  var phase = Phase.active
  var nextProduct: Int32
  /// The offer of the next period, among the next product's; -1 for none.
  var nextOffer: Int16 = -1
  /// How many of the coming periods have it.
  var offerPeriods: Int16 = 0
  var willRenew = true
  /// Of the next period, in thousandths of a dollar, offers apart: nobody's price changes without being announced.
  var price: Int64
  var expirationIntent: SimulatedRenewal.ExpirationIntent?
  var isInBillingRetryPeriod: Bool?
  var gracePeriodExpiresDate: Timestamp?
  /// 0: asked and not answered; 1: agreed, or told without being asked.
  var priceIncreaseStatus: Int64?
  /// Why Apple will not renew it, although the customer wants it.
  var refusal: SimulatedRenewal.ExpirationIntent?
  /// V1 tells of consent only where it was asked for.
  var isConsentAsked = false
  var recentSubscriptionStartDate: Timestamp
  var renewalDate: Timestamp?
  /// The happening that made it as it is.
  var sequence: Int32
}

/// One customer's subscription within a group, for ever: it may lapse and come back.
struct Subscription: Hashable, Sendable {
  let originalID: Int64
  /// Whose it is and which of theirs, when it is shared by somebody of the family.
  let sharer: Sharer?
  /// What was intended, the oldest first; the last counts.
  var intentions: [RenewalIntent]
  /// Grows with every new period and end: what was due in an earlier one is no longer.
  var generation: Int32 = 0
  /// The next renewal will fail or has failed.
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

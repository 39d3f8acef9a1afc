import Signing

extension WorldNotification {
  /// Zero, one or two V1 messages in their order.
  package var v1: [SimulatedV1Notification] {
    guard let transaction else { return [] }
    let types = legacyTypes(transaction)
    guard !types.isEmpty else { return [] }
    let state = state
    let subscription = state.subscriptions.first {
      $0.originalTransactionID == transaction.originalTransactionID
    }
    return types.map { type in
      SimulatedV1Notification(
        type, about: transaction, subscription, of: state, at: happening.date, sharedSecret: plan.sharedSecret,
        era: plan.era)
    }
  }

  private func legacyTypes(_ transaction: SimulatedTransaction) -> [String] {
    var types = happening.kind.v1(of: transaction.product.kind)
    if plan.era.cancelsUpgrades, [.upgraded, .upgradedWithOffer].contains(happening.kind) {
      types.insert("CANCEL", at: 0)
    }
    if plan.era.saysRenewal, happening.kind == .recovered { types = ["RENEWAL"] }
    if transaction.ownership == .familyShared {
      types.removeAll { ["CANCEL", "INITIAL_BUY", "PRICE_INCREASE_CONSENT", "REFUND"].contains($0) }
    }
    if environment != .production, !plan.era.sandboxSendsEverything {
      types.removeAll { !Self.sandboxTypes.contains($0) }
    }
    return types
  }

  /// Apple: the Sandbox sends only these.
  private static let sandboxTypes: Set<String> = [
    "INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "DID_RENEW", "INTERACTIVE_RENEWAL", "CANCEL",
    "REFUND",
  ]
}

extension WorldEvent.Kind {
  /// Returns V1's types in the order of sending; empty if V1 does not report the event.
  ///
  /// The second message of a pair that Apple documents is a separate event if it changes anything.
  package func v1(of kind: Product.Kind) -> [String] {
    switch self {
    case .subscribed: ["INITIAL_BUY"]
    case .resubscribed, .upgraded, .upgradedWithOffer: ["INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS"]
    case .offerRedeemed: ["INTERACTIVE_RENEWAL"]
    case .renewed: ["DID_RENEW"]
    case .recovered: ["DID_RECOVER"]
    case .downgradeChosen, .downgradeChosenWithOffer, .downgradeTakenBack: ["DID_CHANGE_RENEWAL_PREF"]
    case .autoRenewTurnedOff, .autoRenewTurnedOn: ["DID_CHANGE_RENEWAL_STATUS"]
    case .paymentFailed, .paymentFailedWithGrace: ["DID_FAIL_TO_RENEW"]
    case .expiredUnpaid: ["DID_CHANGE_RENEWAL_STATUS"]
    case .priceAnnounced: ["PRICE_INCREASE_CONSENT"]
    case .refundRequested: kind == .consumable ? ["CONSUMPTION_REQUEST"] : []
    case .refunded: kind == .autoRenewable ? ["CANCEL"] : ["REFUND"]
    case .sharingEnded: ["REVOKE"]
    case .graceEnded, .expired, .expiredByPrice, .expiredUnsold, .expiredOtherwise, .priceAgreed, .bought, .finished,
      .restored, .refundDeclined,
      .refundReversed, .extended, .accountTokenSet:
      []
    }
  }
}

/// The sentences that describe notifications to people, unique within a story.
struct Captions {
  private var used: [String: Int] = [:]

  mutating func next(of notification: WorldNotification, about name: String) -> String {
    let sentence = "\(name) \(Self.predicate(of: notification))"
    used[sentence, default: 0] += 1
    let count = used[sentence] ?? 1
    return count == 1 ? sentence : "\(sentence) (\(count))"
  }

  private static func predicate(of notification: WorldNotification) -> String {
    let transaction = notification.transaction
    let product = transaction?.product.id ?? "nothing"
    switch notification.happening.kind {
    case .subscribed:
      if transaction?.ownership == .familyShared { return "has access to \(product) through a family member" }
      let isTrial = transaction?.offer?.discount == .freeTrial
      return isTrial ? "begins a free trial of \(product)" : "subscribes to \(product)"
    case .resubscribed: return "comes back to \(product)"
    case .renewed: return "renews \(product)"
    case .recovered: return "pays for \(product) after all: nothing is lost"
    case .upgraded, .upgradedWithOffer: return "changes to \(product) immediately"
    case .downgradeChosen, .downgradeChosenWithOffer: return "will change from \(product) with the next renewal"
    case .downgradeTakenBack: return "stays with \(product)"
    case .offerRedeemed: return "redeems an offer for the next periods of \(product)"
    case .autoRenewTurnedOff: return "no longer renews \(product)"
    case .autoRenewTurnedOn: return "resumes auto-renewal of \(product)"
    case .paymentFailed: return "cannot pay for \(product), without grace: charging is tried again"
    case .paymentFailedWithGrace: return "cannot pay for \(product), and keeps access during grace"
    case .graceEnded: return "no longer has access to \(product): grace is over"
    case .expired: return "has come to the end of \(product)"
    case .expiredUnpaid: return "could not be charged for \(product) in 60 days: it is over"
    case .expiredByPrice: return "did not agree to the price of \(product): it is over"
    case .expiredUnsold: return "has come to the end of \(product): it is no longer for sale"
    case .expiredOtherwise: return "has come to the end of \(product), and Apple does not say why"
    case .priceAnnounced: return "learns that \(product) will cost more"
    case .priceAgreed: return "agrees to the new price of \(product)"
    case .bought: return "buys \(product)"
    case .finished, .restored, .accountTokenSet: return "does something that Apple reports to no app"
    case .refundRequested: return "asks Apple for the money for \(product) back"
    case .refunded: return "gets the money for \(product) back"
    case .refundDeclined: return "gets no money for \(product) back"
    case .refundReversed: return "has \(product) again: Apple takes the refund back"
    case .sharingEnded: return "loses \(product): it is no longer shared"
    case .extended: return "has \(product) for longer, after an outage"
    }
  }
}

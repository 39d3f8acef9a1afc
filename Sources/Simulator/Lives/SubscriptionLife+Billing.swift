package import Time

/// What the App Store does.
extension SubscriptionLife {
  /// Renews, up to an hour before the period ends, as Apple does.
  package mutating func renew() -> NotificationDraft {
    let end = expiresDate
    charge(for: renewal.nextProduct, at: end, .renewal, offer: renewal.offer)
    return tell("DID_RENEW", at: end - .minutes(Int64(ids.random.number(in: 5..<60))))
  }

  /// Cannot charge at the end of the period.
  package mutating func failToRenew(withGrace hasGrace: Bool) -> NotificationDraft {
    renewal.expirationIntent = .billingError
    renewal.isInBillingRetryPeriod = true
    if hasGrace, let period = current.product.period { renewal.gracePeriodExpiresDate = expiresDate + period.grace }
    return tell("DID_FAIL_TO_RENEW", hasGrace ? "GRACE_PERIOD" : nil, at: expiresDate)
  }

  /// Could charge after all; within grace the new period begins where the old one ended, later at once.
  package mutating func recover(at date: Milliseconds) -> NotificationDraft {
    let isInGrace = renewal.gracePeriodExpiresDate.map { date < $0 } ?? false
    charge(for: renewal.nextProduct, at: isInGrace ? expiresDate : date, .renewal)
    return tell("DID_RENEW", "BILLING_RECOVERY", at: date)
  }

  /// Grace is over; charging is still tried.
  package mutating func endGrace() -> NotificationDraft {
    let end = renewal.gracePeriodExpiresDate ?? expiresDate
    return tell("GRACE_PERIOD_EXPIRED", at: end)
  }

  /// Ends: at the end of the period, or 60 days later when charging failed all that time.
  package mutating func expire(_ intent: SimulatedRenewal.ExpirationIntent = .cancelled) -> NotificationDraft {
    renewal.willRenew = false
    renewal.expirationIntent = intent
    renewal.isInBillingRetryPeriod = false
    renewal.gracePeriodExpiresDate = nil
    let (subtype, delay): (String?, Interval) =
      switch intent {
      case .cancelled: ("VOLUNTARY", .seconds(2))
      case .billingError: ("BILLING_RETRY", .days(60))
      case .priceIncreaseRefused: ("PRICE_INCREASE", .seconds(2))
      case .productNotAvailable: ("PRODUCT_NOT_FOR_SALE", .seconds(2))
      case .other: (nil, .seconds(2))
      }
    return tell("EXPIRED", subtype, at: expiresDate + delay)
  }

  /// Tells of a higher price (in thousandths of a dollar) that the customer has to agree to.
  package mutating func announcePriceIncrease(to price: Int64, at date: Milliseconds) -> NotificationDraft {
    renewal.price = price
    renewal.priceIncreaseStatus = 0
    return tell("PRICE_INCREASE", "PENDING", at: date)
  }

  /// Gives the money of the current period back; it does not renew any more.
  package mutating func refund(reason: Int64 = 0, at date: Milliseconds) -> NotificationDraft {
    current.revocation = Revocation(at: date, .refundFull, reason: reason, percentage: 100_000)
    renewal.willRenew = false
    return tell("REFUND", at: date)
  }

  package mutating func declineRefund(at date: Milliseconds) -> NotificationDraft { tell("REFUND_DECLINED", at: date) }

  /// Takes the refund back: the customer has access again, and nothing says that there was a revocation.
  package mutating func reverseRefund(at date: Milliseconds) -> NotificationDraft {
    current.revocation = nil
    return tell("REFUND_REVERSED", at: date)
  }

  /// The purchaser no longer shares it with this family member.
  package mutating func revokeSharing(at date: Milliseconds) -> NotificationDraft {
    current.revocation = Revocation(at: date, .familyRevoke)
    renewal.willRenew = false
    return tell("REVOKE", at: date)
  }

  /// The period is longer, because the developer asked for it.
  package mutating func extend(by interval: Interval, at date: Milliseconds) -> NotificationDraft {
    current.expiresDate = expiresDate + interval
    renewal.renewalDate = current.expiresDate
    return tell("RENEWAL_EXTENDED", at: date)
  }
}

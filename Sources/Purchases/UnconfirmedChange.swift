import JSON
public import Time

/// A change that a message reports and no signed transaction confirms: the reason for a lookup.
///
/// V1 bodies and verifyReceipt responses are claims. A receipt is signed, but does not contain the renewal: it is a
/// reason too.
public struct UnconfirmedChange: OptionSet, Hashable, Sendable {
  /// The number in tables.
  ///
  /// Bits never change their meaning.
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A purchase or a period without a signed source, or another end of one.
  public static let period = Self(rawValue: 1)
  /// A changed renewal: its state, billing retry, grace period or product.
  public static let renewal = Self(rawValue: 2)
  /// A refund or revocation, or its reversal.
  public static let refund = Self(rawValue: 4)

  /// With `refund`: a refund of a purchase that the message does not name.
  public static let refundWithoutRow = Self(rawValue: 8)

  /// The time by which Apple's signed data and API may lag behind a change.
  public static let lag = Interval.minutes(1)

  public var names: [String] {
    [(Self.period, "period"), (.renewal, "renewal"), (.refund, "refund")].compactMap { contains($0.0) ? $0.1 : nil }
  }
}

extension PurchaseStatement {
  /// Returns the change that this statement reports compared with `known`: the stored statements of the purchase, and
  /// the signed transactions that arrive with it.
  ///
  /// Repeated data is not reported again. A refund is old if an unsigned statement has the same second, if Apple signed
  /// one, or if Apple signed a later statement.
  public func claimedChange(beyond known: [PurchaseStatement]) -> UnconfirmedChange {
    guard source.asksForConfirmation else { return [] }
    let heard = known.filter(\.source.hasVote)
    let end = facts.date(.expiresDate)?.wholeSeconds
    var change: UnconfirmedChange = []
    if !heard.contains(where: { end == nil || $0.facts.date(.expiresDate)?.wholeSeconds == end }) {
      change.insert(.period)
    }
    if tellsOfRefund(beyond: heard) || tellsOfRefundTakenBack(beyond: heard) { change.insert(.refund) }
    return change
  }

  private func tellsOfRefund(beyond heard: [PurchaseStatement]) -> Bool {
    guard let refunded = facts.date(.revocationDate) else { return false }
    return !heard.contains { statement in
      guard let told = statement.facts.date(.revocationDate) else {
        return statement.source.speaksByAbsence && statement.rank.asOf >= refunded + UnconfirmedChange.lag
      }
      // Any holder of the shared secret can report an invented refund, which must not hide another.
      return statement.source.isSigned || told.wholeSeconds == refunded.wholeSeconds
    }
  }

  /// A verifyReceipt response lists every present refund.
  ///
  /// A V1 body omits them arbitrarily.
  private func tellsOfRefundTakenBack(beyond heard: [PurchaseStatement]) -> Bool {
    guard source == .verifyReceiptAnswer, facts[.revocationDate] == nil,
      let latest = heard.filter(\.source.isSigned).max(by: { $0.rank < $1.rank }),
      latest.facts[.revocationDate] != nil, rank.asOf > latest.rank.asOf
    else { return false }
    return !heard.contains {
      $0.source == source && $0.facts[.revocationDate] == nil && $0.rank.asOf > latest.rank.asOf
    }
  }
}

extension RenewalStatement {
  /// Returns the change that this claim reports compared with `known`: the stored statements of the subscription, and
  /// the signed ones that arrive with it.
  public func claimedChange(beyond known: [RenewalStatement]) -> UnconfirmedChange {
    guard source.isClaimed else { return [] }
    let signed = known.filter(\.source.isSigned).max { $0.rank < $1.rank }
    // V1 has whole seconds: within one second the claim may be later.
    if let signed, rank.asOf.wholeSeconds < signed.rank.asOf.wholeSeconds { return [] }
    let news = Self.intentions.filter { contradicts(signed, about: $0) }
    let isOld = known.contains { earlier in
      guard earlier.source.isClaimed, signed.map({ $0.rank.asOf < earlier.rank.asOf }) ?? true else { return false }
      return rank.asOf < earlier.rank.asOf || news.allSatisfy { said($0) == earlier.said($0) }
    }
    return news.isEmpty || isOld ? [] : .renewal
  }

  public func contradicts(_ signed: Self?) -> Bool { Self.intentions.contains { contradicts(signed, about: $0) } }

  private func contradicts(_ signed: Self?, about field: RenewalField) -> Bool {
    guard let value = said(field) else { return false }
    return value != signed?.said(field) ?? Self.unsaid(field)
  }

  /// The fields that may change access or the next purchase.
  private static let intentions: [RenewalField] = [
    .autoRenewStatus, .autoRenewProductId, .isInBillingRetryPeriod, .gracePeriodExpiresDate, .expirationIntent,
  ]

  private func said(_ field: RenewalField) -> JSONValue? {
    guard field.kind == .date else { return facts[field] }
    return facts.date(field).map { .integer($0.wholeSeconds) }
  }

  /// Returns the meaning of a field that Apple's signed statement omits.
  private static func unsaid(_ field: RenewalField) -> JSONValue? { field == .isInBillingRetryPeriod ? false : nil }
}

extension Findings {
  /// The statements that Apple has not signed as transactions and that may change the customer's state.
  ///
  /// For each subscription: the period bought last, the one that ends last and every revoked one, since a lookup
  /// returns its earlier periods. Also every other purchase.
  public var purchasesToConfirm: [PurchaseStatement] {
    let claimed = purchases.filter(\.source.asksForConfirmation)
    var last: [SubscriptionKey: (bought: PurchaseStatement, ending: PurchaseStatement)] = [:]
    for statement in claimed where statement.facts.isSubscription {
      let key = statement.key.subscription
      guard var known = last[key] else {
        last[key] = (statement, statement)
        continue
      }
      if (statement.date(.purchaseDate), statement.key) > (known.bought.date(.purchaseDate), known.bought.key) {
        known.bought = statement
      }
      if (statement.date(.expiresDate), statement.key) > (known.ending.date(.expiresDate), known.ending.key) {
        known.ending = statement
      }
      last[key] = known
    }
    return claimed.filter { statement in
      guard statement.facts.isSubscription, statement.facts[.revocationDate] == nil else { return true }
      guard let known = last[statement.key.subscription] else { return false }
      return statement.key == known.bought.key || statement.key == known.ending.key
    }
  }

  public var claimedRenewals: [RenewalStatement] { renewals.filter(\.source.isClaimed) }

  /// The purchases that events of a V1 body name without a row, with their possible changes.
  ///
  /// Apple includes only the newest 100 rows, omits finished consumables, and has sent bodies without rows.
  public var eventsWithoutRow: [String: UnconfirmedChange] {
    var changes: [String: UnconfirmedChange] = [:]
    for event in events where event.source == .notificationV1 && event.line == nil {
      guard let id = event.originalTransactionID else { continue }
      let isRefund = ["REFUND", "REVOKE"].contains(event.notificationType)
      changes[id, default: []].formUnion(isRefund ? [.refund, .refundWithoutRow] : .period)
    }
    return changes
  }

  /// The purchases with a row whose refund the events of a V1 body report.
  ///
  /// If that refund is old, the reported one may belong to a row without a date.
  public var refundsWithRow: Set<String> {
    let refunds = events.filter {
      $0.source == .notificationV1 && $0.line != nil && ["REFUND", "REVOKE"].contains($0.notificationType)
    }
    return Set(refunds.compactMap(\.originalTransactionID))
  }

  /// The originalTransactionIds that only a V1 body names, without signed data in the same message.
  public var claimedOriginals: Set<String> {
    let told =
      purchases.map { ($0.key.originalTransactionID, $0.source) }
      + renewals.map { ($0.key.originalTransactionID, $0.source) }
      + eventsWithoutRow.keys.map { ($0, .notificationV1) }
    let signed = Set(told.filter(\.1.isSigned).map(\.0))
    return Set(told.filter { $0.1 == .notificationV1 }.map(\.0)).subtracting(signed)
  }
}

extension PurchaseStatement {
  fileprivate func date(_ field: PurchaseField) -> Timestamp { facts.date(field) ?? .distantPast }
}

import JSON
public import Time

/// What a message reports of a customer that no transaction signed by Apple says: the reason to ask Apple.
///
/// "Claimed" is what a V1 body says (its shared secret ships inside every old app) and what an answer of verifyReceipt
/// says (it is not signed). A receipt is signed, but it does not say whether the subscription renews: it is a reason too.
public struct UnconfirmedChange: OptionSet, Hashable, Sendable {
  /// Its number in tables; bits never change their meaning.
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A purchase or a period of a subscription that no signed source knows, or another end of one.
  public static let period = Self(rawValue: 1)
  /// What Apple intends to do next: renew or not, retry the charge, grant a grace period, change the product.
  public static let renewal = Self(rawValue: 2)
  /// A refund or revocation, or the end of one.
  public static let refund = Self(rawValue: 4)

  /// With `refund`: a refund of a purchase that the message does not say.
  public static let refundWithoutRow = Self(rawValue: 8)

  /// How long what Apple signs and its API may still leave out a change that was just made.
  public static let lag = Interval.minutes(1)

  /// The names that documents and logs show.
  public var names: [String] {
    [(Self.period, "period"), (.renewal, "renewal"), (.refund, "refund")].compactMap { contains($0.0) ? $0.1 : nil }
  }
}

extension PurchaseStatement {
  /// What this statement reports that `known` does not: the statements stored of the same purchase, and the signed
  /// transactions that arrive together with it.
  ///
  /// What an earlier statement said already is not reported again: Apple was asked when it arrived. A refund is old news
  /// if an unsigned statement gave the same second, if Apple signed one, and once Apple signed a statement later than it.
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
      // Anybody with the shared secret can report a refund that never was: it hides no other.
      return statement.source.isSigned || told.wholeSeconds == refunded.wholeSeconds
    }
  }

  /// An answer of verifyReceipt lists every refund that stands; a V1 body leaves them out at will.
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
  /// What this claimed statement reports that `known` does not: the statements stored of the same subscription, and what
  /// arrives signed together with it.
  public func claimedChange(beyond known: [RenewalStatement]) -> UnconfirmedChange {
    guard source.isClaimed else { return [] }
    let signed = known.filter(\.source.isSigned).max { $0.rank < $1.rank }
    // V1 tells whole seconds: within one second it may be the later one.
    if let signed, rank.asOf.wholeSeconds < signed.rank.asOf.wholeSeconds { return [] }
    let news = Self.intentions.filter { contradicts(signed, about: $0) }
    let isOld = known.contains { earlier in
      guard earlier.source.isClaimed, signed.map({ $0.rank.asOf < earlier.rank.asOf }) ?? true else { return false }
      return rank.asOf < earlier.rank.asOf || news.allSatisfy { said($0) == earlier.said($0) }
    }
    return news.isEmpty || isOld ? [] : .renewal
  }

  /// Whether it says anything of the renewal that `signed` does not.
  public func contradicts(_ signed: Self?) -> Bool { Self.intentions.contains { contradicts(signed, about: $0) } }

  private func contradicts(_ signed: Self?, about field: RenewalField) -> Bool {
    guard let value = said(field) else { return false }
    return value != signed?.said(field) ?? Self.unsaid(field)
  }

  /// The fields by which access, or what is bought next, may change.
  private static let intentions: [RenewalField] = [
    .autoRenewStatus, .autoRenewProductId, .isInBillingRetryPeriod, .gracePeriodExpiresDate, .expirationIntent,
  ]

  private func said(_ field: RenewalField) -> JSONValue? {
    guard field.kind == .date else { return facts[field] }
    return facts.date(field).map { .integer($0.wholeSeconds) }
  }

  /// What it means when Apple's signed statement leaves the field out.
  private static func unsaid(_ field: RenewalField) -> JSONValue? { field == .isInBillingRetryPeriod ? false : nil }
}

extension Findings {
  /// The statements that Apple has not signed as transactions and by which something may change for the customer.
  ///
  /// Of each subscription the period that was bought last, the one that ends last and every one that was revoked; every
  /// other purchase. Earlier periods of a subscription are in the history of whichever of these is looked up.
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

  /// The purchases that the events of a V1 body name and none of its rows has; what may have happened to each.
  ///
  /// Apple keeps only the newest 100 rows, leaves consumables out once they are finished, and has sent bodies without rows.
  public var eventsWithoutRow: [String: UnconfirmedChange] {
    var changes: [String: UnconfirmedChange] = [:]
    for event in events where event.source == .notificationV1 && event.line == nil {
      guard let id = event.originalTransactionID else { continue }
      let isRefund = ["REFUND", "REVOKE"].contains(event.notificationType)
      changes[id, default: []].formUnion(isRefund ? [.refund, .refundWithoutRow] : .period)
    }
    return changes
  }

  /// The purchases of which events of a V1 body tell a refund that a row has.
  ///
  /// If that refund is old news, the one that is told may be of a row without a date.
  public var refundsWithRow: Set<String> {
    let refunds = events.filter {
      $0.source == .notificationV1 && $0.line != nil && ["REFUND", "REVOKE"].contains($0.notificationType)
    }
    return Set(refunds.compactMap(\.originalTransactionID))
  }

  /// The originalTransactionIds that only a V1 body vouches for: nothing signed in the same message names them.
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

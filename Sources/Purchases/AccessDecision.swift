public import Time

/// The entitlement of a subscription at a given time.
///
/// Only signed sources decide: a V1 body has no signature, and its shared secret is inside old apps.
public struct AccessDecision: Hashable, Sendable {
  /// The status by the signed sources, or by all sources if the signed ones come to none.
  ///
  /// `nil` if no source with a vote states when the period ends.
  public let status: SubscriptionStatus?
  /// The period that decides; nil when there is no status.
  public let period: Purchase?
  /// Whether the signed sources alone come to this status.
  public let isConfirmed: Bool
  /// The status by all sources, if it differs from what is shown.
  public let claim: Unconfirmed?
  /// Whether the customer is entitled to the product.
  public let grantsAccess: Bool
  /// Until when access is held at the latest although the signed sources alone grant none; nil when nothing is held.
  ///
  /// Earlier as soon as the look-up is answered.
  public let accessHeldUntil: Timestamp?

  /// A status that unsigned sources claim.
  public struct Unconfirmed: Hashable, Sendable {
    public let status: SubscriptionStatus
    /// The period that would decide.
    public let period: Purchase?
  }

  /// Whether unsigned sources say something that the signed ones do not, so that Apple is to be asked.
  public var hasUnconfirmedWord: Bool { !isConfirmed || claim != nil }
}

extension Subscription {
  /// The subscription by its signed sources if they give it a status at `now`, otherwise by all sources.
  public func shown(at now: Timestamp) -> Subscription {
    signed.flatMap { $0.status(at: now) == nil ? nil : $0 } ?? self
  }

  /// Decides about access at `now` by what is known and by the arguments only.
  ///
  /// V1 does not report expiries, so the end of a period follows from the time.
  ///
  /// - Parameters:
  ///   - lookUp: the look-up by which Apple is being asked to confirm what V1 reported; nil when none is open.
  ///   - hold: how long access may outlast its signed end meanwhile.
  public func accessDecision(
    at now: Timestamp, lookUp: PendingLookup? = nil, hold: AccessHold = .off
  ) -> AccessDecision {
    let shown = shown(at: now)
    let (status, period) = (shown.status(at: now), shown.current(at: now))
    let signedStatus = signed?.status(at: now)
    let held = lookUp == nil ? nil : accessHeld(at: now, hold)
    let (told, teller) = (self.status(at: now), current(at: now))
    let isTold = told == status && teller?.signedKey == period?.signedKey
    return AccessDecision(
      status: status, period: status == nil ? nil : period,
      isConfirmed: signedStatus != nil,
      claim: isTold ? nil : told.map { AccessDecision.Unconfirmed(status: $0, period: teller) },
      grantsAccess: signedStatus?.grantsAccess ?? false || held != nil, accessHeldUntil: held)
  }

  /// Until when access is held at `now`, while a look-up is open; nil when it is not.
  ///
  /// It only delays an end: the last signed word was that access is granted until a time that has passed since, no
  /// signed word is later than that time, and the claimed word is that access goes on.
  private func accessHeld(at now: Timestamp, _ hold: AccessHold) -> Timestamp? {
    guard let signed, signed.status(at: now)?.grantsAccess != true, let end = signed.accessEnd, end <= now,
      now < end + hold.interval,
      signed.lastHeard.wholeSeconds < end.wholeSeconds, let claimed = accessEnd(at: now)
    else { return nil }
    return min(end + hold.interval, claimed)
  }

  /// When the access ends that the newest period grants, grace included; nil when it was revoked, or has no end.
  private var accessEnd: Timestamp? {
    guard let period = newest, period.revocationDate == nil, let end = period.expiresDate else { return nil }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }

  /// When the access ends that is granted at `now`; nil when none is.
  private func accessEnd(at now: Timestamp) -> Timestamp? {
    guard status(at: now)?.grantsAccess == true, let period = current(at: now), let end = period.expiresDate else {
      return nil
    }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }
}

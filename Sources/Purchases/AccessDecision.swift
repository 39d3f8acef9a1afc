public import Time

/// The entitlement of a subscription at a given time.
///
/// Only signed sources decide: a V1 body has no signature, and its shared secret is inside old apps.
public struct AccessDecision: Hashable, Sendable {
  /// The status by the signed sources, or by all sources if the signed ones give no status.
  ///
  /// `nil` if no voting source states the end of the period.
  public let status: SubscriptionStatus?
  /// The period that decides.
  ///
  /// `nil` without a status.
  public let period: Purchase?
  /// Whether the signed sources give this status.
  public let isConfirmed: Bool
  /// The status by all sources, if it differs from the shown one.
  public let claim: Unconfirmed?
  public let grantsAccess: Bool
  /// The latest end of the held access, which the signed sources no longer grant.
  ///
  /// `nil` if no access is held. The hold ends earlier when the lookup is answered.
  public let accessHeldUntil: Timestamp?

  public struct Unconfirmed: Hashable, Sendable {
    public let status: SubscriptionStatus
    public let period: Purchase?
  }

  /// Whether unsigned sources state more than the signed ones, so that a lookup is needed.
  public var hasUnconfirmedWord: Bool { !isConfirmed || claim != nil }
}

extension Subscription {
  /// Returns the subscription by its signed sources if they give a status at `now`, otherwise by all sources.
  public func shown(at now: Timestamp) -> Subscription {
    signed.flatMap { $0.status(at: now) == nil ? nil : $0 } ?? self
  }

  /// Decides about access at `now` by the statements and the arguments only.
  ///
  /// V1 does not report expiries, so the end of a period follows from the time.
  ///
  /// - Parameters:
  ///   - lookUp: the open lookup of a V1 report. `nil` if none is open.
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

  /// The end of the held access at `now`, while a lookup is open, or `nil`.
  ///
  /// A hold only delays an end. The last signed statement granted access until a time that is now past, no signed
  /// statement is later, and the claim grants access now.
  private func accessHeld(at now: Timestamp, _ hold: AccessHold) -> Timestamp? {
    guard let signed, signed.status(at: now)?.grantsAccess != true, let end = signed.accessEnd, end <= now,
      now < end + hold.interval,
      signed.lastHeard.wholeSeconds < end.wholeSeconds, let claimed = accessEnd(at: now)
    else { return nil }
    return min(end + hold.interval, claimed)
  }

  /// The end of the access from the newest period, grace included.
  ///
  /// `nil` if it was revoked or has no end.
  private var accessEnd: Timestamp? {
    guard let period = newest, period.revocationDate == nil, let end = period.expiresDate else { return nil }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }

  /// The end of the access at `now`.
  ///
  /// `nil` without access.
  private func accessEnd(at now: Timestamp) -> Timestamp? {
    guard status(at: now)?.grantsAccess == true, let period = current(at: now), let end = period.expiresDate else {
      return nil
    }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }
}

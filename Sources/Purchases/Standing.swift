public import Time

/// Whether an app's V1 data may by itself change what its customers are entitled to, while the app is in `record`.
///
/// A V1 body is signed by nobody and its shared secret ships inside old apps.
public enum LegacyEntitlements: String, Hashable, Sendable, CaseIterable {
  /// All sources together decide.
  case allow
  /// What Apple signed decides and is shown; what the rest says of it is shown beside it, marked as a claim.
  case deny
}

/// How a subscription stands at one time: Apple's status, and what it is worth.
public struct Standing: Hashable, Sendable {
  /// The status as the policy has it shown; nil when nobody with a vote said when the period ends.
  ///
  /// Under `deny` that of the signed sources alone, if they come to any.
  public let status: SubscriptionStatus?
  /// The period that decides; nil when there is no status.
  public let period: Purchase?
  /// Whether the signed sources alone come to the same status by the same period.
  public let isConfirmed: Bool
  /// What all sources together say, where that is not what is shown.
  public let claim: Claim?
  /// Whether the customer is entitled to the product, by the app's policy for what is not confirmed.
  public let grantsAccess: Bool
  /// Until when access is held at the latest although the signed sources alone grant none; nil when nothing is held.
  ///
  /// Earlier as soon as the look-up is answered.
  public let accessHeldUntil: Milliseconds?

  /// A status that unsigned sources claim.
  public struct Claim: Hashable, Sendable {
    public let status: SubscriptionStatus
    /// The period that would decide.
    public let period: Purchase?
  }

  /// Whether unsigned sources say something that the signed ones do not, so that Apple is to be asked.
  public var hasUnconfirmedWord: Bool { !isConfirmed || claim != nil }
}

extension Subscription {
  /// The subscription as the policy has it shown at `now`: under `deny` by the signed sources alone, if they tell how it
  /// stands, so that nothing unsigned changes what is shown of it.
  public func shown(under legacy: LegacyEntitlements, at now: Milliseconds) -> Subscription {
    switch legacy {
    case .allow: self
    case .deny: signed.flatMap { $0.status(at: now) == nil ? nil : $0 } ?? self
    }
  }

  /// How it stands at `now`: a pure function of what is known, the time and the policy handed in.
  ///
  /// V1 tells of no expiry: that a period has ended is always read from the time.
  ///
  /// - Parameters:
  ///   - lookUp: the look-up by which Apple is being asked to confirm what V1 reported; nil when none is open.
  ///   - hold: how long access may outlast its signed end meanwhile.
  public func standing(
    at now: Milliseconds, legacy: LegacyEntitlements, lookUp: OpenLookUp? = nil, hold: AccessHold = .off
  ) -> Standing {
    let shown = shown(under: legacy, at: now)
    let (status, period) = (shown.status(at: now), shown.current(at: now))
    let signed = signed
    let signedStatus = signed?.status(at: now)
    let (deciding, held): (SubscriptionStatus?, Milliseconds?) =
      switch legacy {
      case .allow: (status, nil)
      case .deny: (signedStatus, lookUp == nil ? nil : accessHeld(at: now, hold))
      }
    let (told, teller) = (self.status(at: now), current(at: now))
    let isTold = told == status && teller?.signedKey == period?.signedKey
    return Standing(
      status: status, period: status == nil ? nil : period,
      isConfirmed: status != nil && signedStatus == status && signed?.current(at: now)?.key == period?.signedKey,
      claim: isTold ? nil : told.map { Standing.Claim(status: $0, period: teller) },
      grantsAccess: deciding?.grantsAccess ?? false || held != nil, accessHeldUntil: held)
  }

  /// Until when access is held at `now`, while a look-up is open; nil when it is not.
  ///
  /// It only delays an end: the last signed word was that access is granted until a time that has passed since, no
  /// signed word is later than that time, and the claimed word is that access goes on.
  private func accessHeld(at now: Milliseconds, _ hold: AccessHold) -> Milliseconds? {
    guard let signed, signed.status(at: now)?.grantsAccess != true, let end = signed.accessEnd, end <= now,
      now < end + hold.interval,
      signed.lastHeard.wholeSeconds < end.wholeSeconds, let claimed = accessEnd(at: now)
    else { return nil }
    return min(end + hold.interval, claimed)
  }

  /// When the access ends that the newest period grants, grace included; nil when it was revoked, or has no end.
  private var accessEnd: Milliseconds? {
    guard let period = newest, period.revocationDate == nil, let end = period.expiresDate else { return nil }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }

  /// When the access ends that is granted at `now`; nil when none is.
  private func accessEnd(at now: Milliseconds) -> Milliseconds? {
    guard status(at: now)?.grantsAccess == true, let period = current(at: now), let end = period.expiresDate else {
      return nil
    }
    return max(end, gracePeriodEnd(after: period) ?? end)
  }
}

import JSON
import Mappings
import Purchases
import Time

/// What may be said of one subscription's next renewal at one time.
struct RenewalState {
  let renewal: CustomerFacts.Renewal
  /// Whether it was said after the current period began: what was said before is about the period before.
  let isOfCurrentPeriod: Bool
  let now: Timestamp

  init(_ renewal: CustomerFacts.Renewal, periodBegan: Timestamp?, now: Timestamp) {
    self.renewal = renewal
    self.now = now
    isOfCurrentPeriod =
      if let stated = renewal.statedAt, let periodBegan { stated >= periodBegan } else { true }
  }

  /// The end of the grace period, while it is told.
  var graceEnds: Timestamp? { isOfCurrentPeriod ? renewal.facts.date(.gracePeriodExpiresDate) : nil }

  private var intent: JSONValue? { isOfCurrentPeriod ? renewal.facts[.expirationIntent] : nil }

  /// Whether the customer cancelled while the grace period runs: Apple removes the element then.
  var isCancelledInGrace: Bool {
    renewal.facts.integer(.autoRenewStatus) == 0 && graceEnds.map { $0 > now } == true
  }

  /// The value of a field, nil where it is left out.
  func value(_ plan: FieldRule, _ readings: RuleOptions) -> JSONValue? {
    guard let field = plan.renewalField, let value = renewal.facts[field] else { return nil }
    switch plan.form {
    case .intent: return intent
    case .retry:
      guard isOfCurrentPeriod, intent != nil || readings.reads(.retryFlag, .asStated) else { return nil }
      return value.bool.map { $0 ? "1" : "0" }
    case .grace: return graceEnds == nil ? nil : value
    case .consent:
      return value == 0 || renewal.wasAskedToConsent || readings.reads(.consent, .asStated) ? value : nil
    case .promotional:
      let type = renewal.facts.integer(.offerType)
      return type == 2 || (type == 4 && readings.winBackIsPromotional) ? value : nil
    case .offerCode: return renewal.facts.integer(.offerType) == 3 ? value : nil
    default: return value
    }
  }
}

extension ResponseWriter {
  /// Writes what is known of a renewal.
  mutating func renewal(_ plans: [FieldRule], _ state: RenewalState, _ readings: RuleOptions) {
    for plan in plans {
      guard let found = state.value(plan, readings) else { continue }
      if plan.form == .grace {
        if let moment = found.milliseconds { date(plan, moment, .signed) }
      } else {
        value(plan, (found, .signed))
      }
    }
  }
}

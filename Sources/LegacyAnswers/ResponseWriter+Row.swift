import JSON
import Mappings
import Purchases
import Receipts
import Time

extension ResponseWriter {
  /// Writes the fields of one purchase.
  mutating func row(_ plans: [FieldRule], _ source: RowSource, _ readings: RuleOptions) {
    for plan in plans {
      if plan.presence == .subscription, !source.isSubscription { continue }
      field(plan, source, readings)
    }
  }

  private mutating func field(_ plan: FieldRule, _ source: RowSource, _ readings: RuleOptions) {
    switch plan.form {
    case .text, .number, .switched: if let found = source.value(plan) { value(plan, found) }
    case .transactionId, .originalDate:
      let found = source.value(plan)
      let stated = plan.purchaseField.flatMap { source.signed?[$0] }
      let chosen = readings.identityIsReceipts ? found : stated.map { ($0, .signed) } ?? found
      guard let chosen else { return }
      if plan.form == .transactionId {
        value(plan, chosen)
      } else if let moment = chosen.0.milliseconds {
        date(plan, moment, chosen.1)
      }
    case .date:
      if let found = source.value(plan), let moment = found.value.milliseconds { date(plan, moment, found.origin) }
    case .flatDate:
      if let found = source.value(plan), let moment = found.value.milliseconds { flatDate(plan, moment, found.origin) }
    case .flag:
      let found = source.value(plan)
      if found != nil || plan.presence == .always {
        flag(plan, found?.value.bool ?? false, found?.origin ?? plan.order[0])
      }
    case .trial:
      let found = source.isTrial(plan, readings)
      flag(plan, found.value, found.origin)
    case .intro:
      // A receipt alone tells it only where it has the attribute.
      if source.signed == nil, source.receiptValue(plan) == nil { return }
      let found = source.isIntroductory(plan)
      flag(plan, found.value, found.origin)
    case .cancellation:
      if let found = source.cancellation(plan, readings), let moment = found.value.milliseconds {
        date(plan, moment, found.origin)
      }
    case .cancellationReason: if let found = source.cancellation(plan, readings) { value(plan, found) }
    case .ownership:
      guard let found = source.value(plan) else { return }
      switch found.value {
      case .string(let name): text(plan, name, found.origin)
      case .integer(let number):
        if let name = ReceiptOwnership(rawValue: number).name { text(plan, name, found.origin) }
      default: return
      }
    case .upgraded: if source.signed?.flag(.isUpgraded) == true { flag(plan, true, .signed) }
    case .group:
      if let found = source.value(plan) {
        value(plan, found)
      } else if let group = source.group {
        text(plan, group, .signed)
      }
    case .promotional: if let found = source.promotionalOffer(plan, readings) { value(plan, found) }
    case .offerCode:
      if source.signed?.integer(.offerType) == 3, source.isSubscription, let found = source.value(plan) {
        value(plan, found)
      }
    case .pair:
      if let pair = plan.signedKey.flatMap({ source.transaction?.pair($0) }) { text(plan, pair, .receipt) }
    case .itemId: if let item = source.itemID { text(plan, item.value, item.origin) }
    case .creation, .requested, .intent, .retry, .grace, .consent, .status, .environment, .latestReceipt: return
    }
  }

  /// A string or a whole number, as the plan's form writes it.
  mutating func value(_ plan: FieldRule, _ found: (value: JSONValue, origin: ResponseFieldTable.Origin)) {
    switch (found.value, plan.form) {
    case (.string(let string), _): text(plan, string, found.origin)
    case (.integer(let integer), .number): number(plan, integer, found.origin)
    case (.integer(let integer), _): digits(plan, integer, found.origin)
    case (.bool(let bool), .switched): digits(plan, bool ? 1 : 0, found.origin)
    case (.bool(let bool), _): flag(plan, bool, found.origin)
    default: return
    }
  }
}

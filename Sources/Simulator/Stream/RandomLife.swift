import Time

/// A customer to whom things happen by chance: all that may happen to a purchase, in an order that is possible.
struct RandomLife {
  private enum Phase {
    case active, grace, retry, lapsed, refunded
  }

  private static let group = "21004711"
  private static let plus = Product.subscription("stream.plus.monthly", group: group, every: .months(1), price: 4_990)
  private static let pro = Product.subscription(
    "stream.pro.monthly", group: group, every: .months(1), price: 9_990, freeTrial: .weeks(1))
  private static let coins = Product(.consumable, id: "stream.coins.100", price: 990)

  private let app: SimulatedApp
  private let customer: Customer
  private var ids: IdentifierSource
  private var random: SplitMix64
  /// When the last thing happened.
  private var now: Milliseconds

  /// The life of customer `number`, who comes within 60 days of `start`.
  init(number: Int, seed: UInt64, app: SimulatedApp, start: Milliseconds) {
    ids = IdentifierSource(environment: app.environment, seed: seed, life: number)
    random = SplitMix64(seed: ids.random.next(), part: number)
    now = start + .seconds(Int64(random.number(in: 0..<60 * 86_400)))
    customer = Customer(
      name: "Customer \(number)", storefront: random.element(of: Storefront.all),
      appTransactionID: ids.appTransactionID(), appAccountToken: random.chance(70) ? ids.uuid() : nil)
    self.app = app
  }

  /// The first `count` notifications of this life, the earliest first.
  mutating func notifications(_ count: Int) -> [NotificationDraft] {
    random.chance(80) ? subscription(count) : consumables(count)
  }

  private mutating func subscription(_ count: Int) -> [NotificationDraft] {
    let product = random.chance(50) ? Self.plus : Self.pro
    let trial = random.chance(60) ? product.introductory : nil
    var life = SubscriptionLife(of: product, by: customer, in: app, from: now, offer: trial, ids: ids)
    var phase = Phase.active
    var told = [life.begin()]
    while told.count < count {
      now = max(now, told[told.count - 1].signedDate) + .minutes(Int64(random.number(in: 1..<600)))
      told.append(happen(to: &life, &phase))
    }
    return told
  }

  private mutating func happen(to life: inout SubscriptionLife, _ phase: inout Phase) -> NotificationDraft {
    switch phase {
    case .active:
      if now + .hours(2) < life.expiresDate, random.chance(45) { return whileActive(&life, &phase) }
      guard life.renewal.willRenew else {
        phase = .lapsed
        return life.expire()
      }
      if random.chance(85) { return life.renew() }
      phase = random.chance(60) ? .grace : .retry
      return life.failToRenew(withGrace: phase == .grace)
    case .grace:
      if random.chance(30) {
        phase = .retry
        return life.endGrace()
      }
      phase = .active
      return life.recover(at: life.expiresDate + .days(Int64(random.number(in: 1..<6))))
    case .retry:
      if random.chance(40) {
        phase = .lapsed
        return life.expire(.billingError)
      }
      phase = .active
      return life.recover(at: max(now, life.expiresDate + .days(Int64(random.number(in: 17..<50)))))
    case .refunded:
      guard random.chance(40) else {
        phase = .active
        return life.resubscribe(at: now + .days(1))
      }
      phase = .active
      return life.reverseRefund(at: now)
    case .lapsed:
      phase = .active
      let product = random.chance(50) ? Self.plus : Self.pro
      return life.resubscribe(to: product, at: now + .days(Int64(random.number(in: 1..<20))))
    }
  }

  private mutating func whileActive(_ life: inout SubscriptionLife, _ phase: inout Phase) -> NotificationDraft {
    switch random.number(in: 0..<6) {
    case 0:
      guard life.current.product == Self.plus else { return life.downgrade(to: Self.plus, at: now) }
      return life.upgrade(to: Self.pro, at: now)
    case 1:
      phase = .refunded
      return life.refund(reason: random.chance(50) ? 1 : 0, at: now)
    case 2: return life.requestRefund(at: now)
    case 3: return life.extend(by: .days(7), at: now)
    default: return life.setAutoRenew(!life.renewal.willRenew, at: now)
    }
  }

  private mutating func consumables(_ count: Int) -> [NotificationDraft] {
    var told: [NotificationDraft] = []
    while told.count < count {
      now = now + .hours(Int64(random.number(in: 1..<200)))
      var life = OneTimePurchaseLife(of: Self.coins, by: customer, in: app, at: now, ids: &ids)
      told.append(life.buy())
      if random.chance(25) {
        told.append(life.requestRefund(at: now + .minutes(20)))
        let decision = now + .minutes(40)
        told.append(random.chance(50) ? life.refund(at: decision) : life.declineRefund(at: decision))
      }
    }
    return Array(told.prefix(count))
  }
}

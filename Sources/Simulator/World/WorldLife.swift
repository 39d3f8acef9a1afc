import Time

/// What happens to one customer until the end of the world, by chance, in an order that is possible.
struct WorldLife {
  private static let group = "21004712"
  private static let products = [
    Product.subscription("plus.monthly", group: group, every: .months(1), price: 4_990),
    Product.subscription("pro.monthly", group: group, every: .months(1), price: 9_990, freeTrial: .weeks(1)),
    Product.subscription("pro.yearly", group: group, every: .years(1), price: 79_990, freeTrial: .weeks(1)),
  ]
  private static let coins = Product(.consumable, id: "coins.100", price: 990)
  private static let theme = Product(.nonConsumable, id: "theme.dark", price: 2_990)

  private(set) var told: [NotificationDraft] = []
  private(set) var subscription: SubscriptionLife?
  private var bought: [SimulatedTransaction] = []
  private let app: SimulatedApp
  private let customer: Customer
  private let start: Milliseconds
  private let asOf: Milliseconds
  private var random: SplitMix64

  init(app: SimulatedApp, customer: Customer, start: Milliseconds, asOf: Milliseconds, random: SplitMix64) {
    self.app = app
    self.customer = customer
    self.start = start
    self.asOf = asOf
    self.random = random
  }

  /// As they stand at the end, the oldest first.
  var purchases: [SimulatedTransaction] {
    ((subscription?.periods ?? []) + bought).sorted {
      ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
    }
  }

  mutating func subscribe(ids: IdentifierSource) {
    let product = random.element(of: Self.products)
    let trial = random.chance(50) ? product.introductory : nil
    var life = SubscriptionLife(of: product, by: customer, in: app, from: start, offer: trial, ids: ids)
    told.append(life.begin())
    while life.expiresDate < asOf - .days(1), endPeriod(of: &life) {}
    if life.expiresDate > asOf { duringLastPeriod(of: &life) }
    subscription = life
  }

  /// Whether there is another period.
  private mutating func endPeriod(of life: inout SubscriptionLife) -> Bool {
    switch random.number(in: 0..<100) {
    case 0..<80:
      told.append(life.renew())
      return true
    case 80..<88:
      told.append(life.failToRenew(withGrace: true))
      return recover(&life, after: .days(Int64(random.number(in: 1..<6))))
    case 88..<94:
      told.append(life.failToRenew(withGrace: false))
      return recover(&life, after: .days(Int64(random.number(in: 2..<50))))
    default:
      told.append(life.setAutoRenew(false, at: life.current.purchaseDate + .hours(30)))
      told.append(life.expire())
      guard random.chance(30), life.expiresDate + .days(20) < asOf else { return false }
      told.append(life.resubscribe(at: life.expiresDate + .days(Int64(random.number(in: 1..<20)))))
      return true
    }
  }

  /// Pays after all, or is still asked to at the end, or is given up.
  private mutating func recover(_ life: inout SubscriptionLife, after delay: Interval) -> Bool {
    let date = life.expiresDate + delay
    if date < asOf, random.chance(70) {
      told.append(life.recover(at: date))
      return true
    }
    if let grace = life.renewal.gracePeriodExpiresDate, grace < asOf { told.append(life.endGrace()) }
    if life.expiresDate + .days(60) < asOf { told.append(life.expire(.billingError)) }
    return false
  }

  private mutating func duringLastPeriod(of life: inout SubscriptionLife) {
    let date = life.current.purchaseDate + .hours(Int64(random.number(in: 2..<40)))
    guard date < asOf - .hours(1) else { return }
    switch random.number(in: 0..<100) {
    case 0..<12: told.append(life.setAutoRenew(false, at: date))
    case 12..<17: told.append(life.refund(reason: random.chance(50) ? 1 : 0, at: date))
    case 17..<20:
      told.append(life.refund(at: date))
      told.append(life.reverseRefund(at: date + .minutes(30)))
    default: break
    }
  }

  /// Coins, mostly none to five times, rarely very often; and one thing for ever.
  mutating func buyOnce(ids: inout IdentifierSource, atLeast least: Int) {
    let count = random.chance(2) ? random.number(in: 20..<80) : max(least, random.number(in: 0..<6))
    let seconds = (asOf - start).milliseconds / 1_000
    for index in 0..<count {
      let date = start + .seconds(Int64(random.number(in: 1..<Int(max(2, seconds - 7_200)))))
      let product = index == 1 ? Self.theme : Self.coins
      var life = OneTimePurchaseLife(of: product, by: customer, in: app, at: date, ids: &ids)
      told.append(life.buy())
      if random.chance(4), date + .hours(2) < asOf { told.append(life.refund(at: date + .hours(1))) }
      bought.append(life.transaction)
    }
  }
}

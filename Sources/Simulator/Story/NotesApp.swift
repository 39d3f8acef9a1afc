import Time

/// The story's first app: a notebook with three subscriptions in one group.
struct NotesApp {
  let app = SimulatedApp(name: "Inkwell Notes", bundleID: "com.example.inkwell", appAppleID: 1_580_234_117)
  private static let group = "20965432"
  let plus = Product.subscription("inkwell.plus.monthly", group: group, every: .months(1), price: 4_990)
  let pro = Product.subscription("inkwell.pro.monthly", group: group, every: .months(1), price: 9_990)
  let proYearly = Product.subscription(
    "inkwell.pro.yearly", group: group, every: .years(1), price: 79_990, freeTrial: .weeks(1))

  let seed: UInt64
  let start: Milliseconds

  init(seed: UInt64, start: Milliseconds) {
    self.seed = seed
    self.start = start
  }

  /// Ids of this app's lives are those of 1 to 9.
  func ids(_ life: Int) -> IdentifierSource { IdentifierSource(environment: app.environment, seed: seed, life: life) }

  func scenes() -> [Story.Scene] { anna() + ben() + carla() + dev() }

  /// A trial that converts, with an account of the app's own; in the end a paying customer.
  private func anna() -> [Story.Scene] {
    var ids = ids(1)
    let anna = Customer(
      name: "Anna", storefront: .germany, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var life = SubscriptionLife(
      of: proYearly, by: anna, in: app, from: start + .hours(9), offer: proYearly.introductory,
      ids: ids)
    return [
      Story.Scene("Anna begins a free week of Pro", life.begin()),
      Story.Scene("Anna's free week becomes a paid year", life.renew()),
      Story.Scene("Anna turns auto-renewal off", life.setAutoRenew(false, at: start + .days(20))),
      Story.Scene("Anna turns auto-renewal on again", life.setAutoRenew(true, at: start + .days(22))),
    ]
  }

  /// A payment that fails and is made good within grace; later a refund that is taken back, and an end.
  private func ben() -> [Story.Scene] {
    var ids = ids(2)
    let ben = Customer(name: "Ben", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    var life = SubscriptionLife(of: plus, by: ben, in: app, from: start + .days(1), ids: ids)
    let begun = life.begin()
    let failed = life.failToRenew(withGrace: true)
    let recovered = life.recover(at: life.expiresDate + .days(4))
    let paid = life.current.purchaseDate
    return [
      Story.Scene("Ben subscribes to Plus", begun),
      Story.Scene("Ben's card is declined; he keeps access for 16 days of grace", failed),
      Story.Scene("Ben's new card works: renewed, nothing lost", recovered),
      Story.Scene("Ben gets his money back", life.refund(reason: 1, at: paid + .days(10))),
      Story.Scene("Apple takes Ben's refund back: he has access again", life.reverseRefund(at: paid + .days(12))),
      Story.Scene("Ben's month ends: the refund had turned auto-renewal off", life.expire()),
    ]
  }

  /// Up at once, down at the next renewal; in the end a subscriber.
  private func carla() -> [Story.Scene] {
    var ids = ids(3)
    let carla = Customer(
      name: "Carla", storefront: .brazil, appTransactionID: ids.appTransactionID(), appAccountToken: ids.uuid())
    var life = SubscriptionLife(of: plus, by: carla, in: app, from: start + .days(100), ids: ids)
    return [
      Story.Scene("Carla subscribes to Plus", life.begin()),
      Story.Scene("Carla upgrades to Pro at once", life.upgrade(to: pro, at: start + .days(110))),
      Story.Scene("Carla will go down to Plus at the next renewal", life.downgrade(to: plus, at: start + .days(128))),
      Story.Scene("Carla renews, with Plus", life.renew()),
    ]
  }

  /// A payment that fails for good, and a return; in the end a subscriber.
  private func dev() -> [Story.Scene] {
    var ids = ids(4)
    let dev = Customer(name: "Dev", storefront: .unitedKingdom, appTransactionID: ids.appTransactionID())
    var life = SubscriptionLife(of: pro, by: dev, in: app, from: start + .days(3), ids: ids)
    let begun = life.begin()
    let failed = life.failToRenew(withGrace: false)
    let expired = life.expire(.billingError)
    return [
      Story.Scene("Dev subscribes to Pro", begun),
      Story.Scene("Dev's card is declined, without grace: charging is tried again", failed),
      Story.Scene("60 days later Dev's Pro is over", expired),
      Story.Scene("Dev comes back", life.resubscribe(at: start + .days(140))),
    ]
  }
}

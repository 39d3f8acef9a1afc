package import Signing
package import Time

/// The beginning of a world: apps, their products, and their customers.
package struct WorldPlan: Hashable, Sendable {
  package var apps: [AppPlan]

  package init(apps: [AppPlan]) { self.apps = apps }
}

/// One app of a world: its products and its customers' behavior.
package struct AppPlan: Hashable, Sendable {
  package var app: SimulatedApp
  package var products: [Product]
  /// The shared secret of V1's requests, as in App Store Connect: 32 hexadecimal digits.
  package var sharedSecret: String
  /// The number of customers without orders, in the app's environment.
  package var customers = 0
  package var testers = 0
  /// The time from the start of the world in which customers arrive, evenly.
  package var arrival = Interval.days(60)
  package var habits = BehaviorRates.none
  /// Whether App Store Connect's billing grace is on.
  package var hasGrace = true
  /// Whether grace is for "only paid to paid renewals", which excludes an unpaid renewal after a free trial.
  package var isGraceForPaidPeriodsAlone = false
  package var priceChanges: [PriceChange] = []
  package var era = V1Era.current

  package init(_ app: SimulatedApp, selling products: [Product], sharedSecret: String) {
    self.app = app
    self.products = products
    self.sharedSecret = sharedSecret
  }

  /// A new price for existing and later subscribers.
  package struct PriceChange: Hashable, Sendable {
    package var productID: String
    package var date: Timestamp
    /// In thousandths of a US dollar.
    package var price: Int64
    /// Whether subscribers must agree or lose the subscription.
    package var needsConsent: Bool

    package init(of productID: String, at date: Timestamp, to price: Int64, needsConsent: Bool) {
      self.productID = productID
      self.date = date
      self.price = price
      self.needsConsent = needsConsent
    }
  }

  /// Creates an app with a product and an offer of every kind.
  package static func sample(
    _ bundleID: String, appAppleID: Int64 = 1_600_000_000, environment: AppStoreEnvironment = .sandbox
  ) -> Self {
    let group = "21004713"
    func offers(_ period: Period, _ price: Int64) -> [Offer] {
      var intro = Offer(.promotional, identifier: "stay.3", .payAsYouGo, for: period, price: price / 2)
      intro.periods = 3
      return [
        intro, Offer(.offerCode, identifier: "SPRING", .payUpFront, for: period, price: price / 4),
        Offer(.winBack, identifier: "welcome.back", .freeTrial, for: period),
      ]
    }
    func subscription(_ id: String, _ period: Period, _ price: Int64, level: Int, trial: Period?, shared: Bool = false)
      -> Product
    {
      Product.subscription(id, group: group, every: period, price: price, freeTrial: trial)
        .at(level: level, offers: offers(period, price), isFamilyShareable: shared)
    }
    // A year paid by the month.
    var club = Product.subscription("club.committed", group: "21004715", every: .months(1), price: 6_990)
    club.commitmentPeriods = 12
    var archive = Product(.nonConsumable, id: "archive", price: 19_990)
    archive.isFamilyShareable = true
    let products = [
      subscription("plus.monthly", .months(1), 4_990, level: 2, trial: .weeks(1)),
      subscription("plus.yearly", .years(1), 39_990, level: 2, trial: .weeks(2)),
      subscription("pro.monthly", .months(1), 9_990, level: 1, trial: nil, shared: true),
      subscription("lite.weekly", .weeks(1), 990, level: 3, trial: nil),
      Product.subscription("news.monthly", group: "21004714", every: .months(1), price: 2_990), club,
      Product(.consumable, id: "coins.100", price: 990), Product(.consumable, id: "coins.1000", price: 7_990), archive,
      Product(.nonRenewing, id: "season.pass", price: 12_990),
    ]
    var random = SplitMix64(seed: UInt64(appAppleID))
    return Self(
      SimulatedApp(name: bundleID, bundleID: bundleID, appAppleID: appAppleID, environment: environment),
      selling: products, sharedSecret: String(random.uuid().filter { $0 != "-" }))
  }
}

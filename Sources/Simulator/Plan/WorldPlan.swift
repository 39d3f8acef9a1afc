package import Signing
package import Time

/// What a world begins with: apps, what they sell, and who comes to buy it.
package struct WorldPlan: Hashable, Sendable {
  package var apps: [AppPlan]

  package init(apps: [AppPlan]) { self.apps = apps }
}

/// One app in a world: what it sells and how its customers live.
package struct AppPlan: Hashable, Sendable {
  package var app: SimulatedApp
  package var products: [Product]
  /// The secret of V1's requests, as App Store Connect shows it: 32 hexadecimal digits.
  package var sharedSecret: String
  /// How many come by themselves, in the app's environment.
  package var customers = 0
  /// How many of the developer's testers come too, in the Sandbox.
  package var testers = 0
  /// Customers come within this time from the start of the world, evenly.
  package var arrival = Interval.days(60)
  package var habits = BehaviorRates.none
  /// Whether App Store Connect's billing grace is on.
  package var hasGrace = true
  /// Whether it is for "only paid to paid renewals", and not for who does not pay after a free trial.
  package var isGraceForPaidPeriodsAlone = false
  package var priceChanges: [PriceChange] = []
  package var era = V1Era.current

  package init(_ app: SimulatedApp, selling products: [Product], sharedSecret: String) {
    self.app = app
    self.products = products
    self.sharedSecret = sharedSecret
  }

  /// A new price for those who subscribe already and for those who come later.
  package struct PriceChange: Hashable, Sendable {
    package var productID: String
    package var date: Timestamp
    /// In thousandths of a US dollar.
    package var price: Int64
    /// Whether subscribers must agree or else lose it.
    package var needsConsent: Bool

    package init(of productID: String, at date: Timestamp, to price: Int64, needsConsent: Bool) {
      self.productID = productID
      self.date = date
      self.price = price
      self.needsConsent = needsConsent
    }
  }

  /// An app that sells something of every kind, with every kind of offer.
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
    // A year that is paid by the month.
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

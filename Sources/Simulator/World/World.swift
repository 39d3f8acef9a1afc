package import Time

/// Customers of some apps, any number, each made alone: the n-th is the same for the same seed on every machine.
///
/// Dates are fixed too; what is signed differs from run to run in its keys and signatures alone.
package struct World: Sendable {
  /// The end of what is told, 2026-06-01T00:00:00Z.
  ///
  /// Nothing is dated later but what is paid in advance.
  package static let asOf = Milliseconds(1_780_272_000_000)
  /// So many days before `asOf` the first customer may come; certificates are valid for a year before it.
  private static let length = 300

  package let seed: UInt64
  package let apps: [SimulatedApp]

  /// - Parameter bundleIDs: of the apps, at least one; customers come to them in turns.
  package init(seed: UInt64, bundleIDs: [String]) {
    self.seed = seed
    apps = bundleIDs.enumerated().map { index, bundleID in
      SimulatedApp(name: bundleID, bundleID: bundleID, appAppleID: 1_600_000_000 + Int64(index) * 1_009)
    }
  }

  /// The secret of V1's requests for the app, as App Store Connect shows it: 32 hexadecimal digits.
  package func sharedSecret(ofApp index: Int) -> String {
    var random = SplitMix64(seed: seed ^ 0x7365_6372_6574, part: index)
    return String(random.uuid().filter { $0 != "-" })
  }

  /// Customer `number`, below 50,000,000.
  package func customer(_ number: Int) -> WorldCustomer {
    let app = apps[number % apps.count]
    var ids = IdentifierSource(environment: app.environment, seed: seed, life: number * 2)
    var random = SplitMix64(seed: ids.random.next(), part: number)
    let customer = Customer(
      name: "Customer \(number)", storefront: random.element(of: Storefront.all),
      appTransactionID: ids.appTransactionID(), appAccountToken: random.chance(70) ? random.uuid() : nil)
    let start = Self.asOf - .seconds(Int64(random.number(in: 86_400..<Self.length * 86_400)))
    var life = WorldLife(app: app, customer: customer, start: start, asOf: Self.asOf, random: random)
    if random.chance(75) {
      life.subscribe(ids: IdentifierSource(environment: app.environment, seed: seed, life: number * 2 + 1))
    }
    life.buyOnce(ids: &ids, atLeast: life.subscription == nil ? 1 : 0)
    return WorldCustomer(
      number: number, app: app, userID: "user-\(number)", customer: customer,
      notifications: life.told.sorted { $0.signedDate < $1.signedDate },
      purchases: life.purchases, subscription: life.subscription, receiptKind: kind(number), asOf: Self.asOf)
  }

  private func kind(_ number: Int) -> WorldCustomer.ReceiptKind {
    // Coprime to small numbers of apps, so that each app has every kind.
    switch number % 23 {
    case 7, 15: .sha1
    case 11: .transaction
    default: .current
    }
  }
}

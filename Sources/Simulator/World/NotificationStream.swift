package import Signing
package import Time

/// A stream of different valid notifications of one app, for load and property tests.
///
/// The n-th is the same for the same seed and start. Customers come in groups, whose notifications alternate. Adjacent
/// notifications are of many customers, and each customer's are in order.
package struct NotificationStream: Sendable {
  private let customers: Int
  private let length: Int
  private var blockSize: Int { customers * length }

  private let population: Population
  private let signer: PayloadSigner
  private var number = 0
  private var block: [NotificationDraft] = []

  /// Certificates must be valid for a year and a half from `start`.
  ///
  /// - Parameters:
  ///   - customers: of one group, the distance between two notifications of one customer.
  ///   - length: notifications of each customer, up to 14.
  package init(
    seed: UInt64, app: SimulatedApp, pki: ApplePKI, start: Timestamp, customers: Int = 64, length: Int = 10
  ) throws(CertificateError) {
    precondition(length <= 14, "no customer has this many events in a year and a half")
    self.customers = customers
    self.length = length
    population = Population(plan: WorldPlan(apps: [Self.plan(of: app)]), seed: seed, start: start)
    signer = try PayloadSigner(pki)
  }

  /// Returns a plan in which every customer buys monthly, so that notifications are frequent.
  private static func plan(of app: SimulatedApp) -> AppPlan {
    var plan = AppPlan.sample(app.bundleID)
    let products = plan.products.filter {
      $0.kind == .consumable || ($0.kind == .autoRenewable && $0.period != .years(1))
    }
    plan = AppPlan(app, selling: products, sharedSecret: plan.sharedSecret)
    plan.habits = .busy
    plan.isGraceForPaidPeriodsAlone = true
    plan.customers = WorldIdentifiers.mostHouseholds
    return plan
  }

  /// Returns the next one; the first 40 million exist.
  package mutating func next() throws(CertificateError) -> SignedNotification {
    let place = number % blockSize
    if place == 0 { block = drafts(ofBlock: number / blockSize) }
    number += 1
    return try block[place].signed(by: signer)
  }

  /// Returns the results of `keep` for `count` notifications from the number `first`, made on all cores, in their
  /// order.
  ///
  /// A notification has 14 KB, so reduce millions to a smaller form.
  @concurrent package func generate<Kept: Sendable>(
    _ count: Int, from first: Int = 0, keeping keep: @escaping @Sendable (SignedNotification) -> Kept
  ) async throws -> [Kept] {
    let blocks = first / blockSize..<(first + count + blockSize - 1) / blockSize
    return try await withThrowingTaskGroup(of: (Int, [Kept]).self) { group in
      var made = [[Kept]](repeating: [], count: blocks.count)
      for index in blocks {
        group.addTask {
          (index, try self.drafts(ofBlock: index).map { draft in try keep(draft.signed(by: self.signer)) })
        }
      }
      for try await (index, run) in group { made[index - blocks.lowerBound] = run }
      return Array(made.joined().dropFirst(first % blockSize).prefix(count))
    }
  }

  /// Returns `count` whole notifications from the number `first`.
  package func generate(_ count: Int, from first: Int = 0) async throws -> [SignedNotification] {
    try await generate(count, from: first) { $0 }
  }

  /// Returns the unsigned notifications of one group of customers.
  func drafts(ofBlock index: Int) -> [NotificationDraft] {
    let lives = (0..<customers).map { customer in
      var life = population.life(index * customers + customer)
      life.advance(untilTold: length)
      return life.told(until: Timestamp(.max)).prefix(length).compactMap(\.v2)
    }
    return (0..<length).flatMap { turn in lives.map { $0[turn] } }
  }
}

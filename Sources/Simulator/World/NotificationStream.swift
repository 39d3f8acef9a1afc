package import Signing
package import Time

/// Any number of different valid notifications of one app, for load and for properties.
///
/// The n-th is the same for the same seed and start. Customers come in groups, whose notifications take turns: what
/// arrives together is of many customers, and each one's come in their order.
package struct NotificationStream: Sendable {
  /// Customers of one group.
  private let customers: Int
  /// Notifications of each customer.
  private let length: Int
  private var blockSize: Int { customers * length }

  private let population: Population
  private let signer: PayloadSigner
  private var number = 0
  private var block: [NotificationDraft] = []

  /// Certificates must be valid for a year and a half from `start`.
  ///
  /// - Parameters:
  ///   - customers: of one group: so many notifications lie between two of one customer.
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

  /// Everybody buys something each month, so that everybody is told of often enough.
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

  /// The next one; there is no end before 40 million.
  package mutating func next() throws(CertificateError) -> SignedNotification {
    let place = number % blockSize
    if place == 0 { block = drafts(ofBlock: number / blockSize) }
    number += 1
    return try block[place].signed(by: signer)
  }

  /// What `keep` makes of `count` notifications from the number `first` on, made on all cores, in their order.
  ///
  /// 14 KB each: whoever needs millions keeps something smaller of each.
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

  /// `count` notifications from the number `first` on, whole.
  package func generate(_ count: Int, from first: Int = 0) async throws -> [SignedNotification] {
    try await generate(count, from: first) { $0 }
  }

  /// The notifications of one group of customers, not signed yet.
  func drafts(ofBlock index: Int) -> [NotificationDraft] {
    let lives = (0..<customers).map { customer in
      var life = population.life(index * customers + customer)
      life.advance(untilTold: length)
      return life.told(until: Timestamp(.max)).prefix(length).compactMap(\.v2)
    }
    return (0..<length).flatMap { turn in lives.map { $0[turn] } }
  }
}

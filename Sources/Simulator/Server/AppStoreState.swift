import JSON
import Signing
import Time

/// The mutable state of a served App Store: the world, and the developers' changes.
///
/// A value behind the server's lock, without I/O.
struct AppStoreState: Sendable {
  var world: AppStoreWorld
  var faults: FaultPlan
  var mailroom = NotificationQueue()
  var destinations: [SimulatedAppScope: Destination] = [:]
  var tests: [String: Int] = [:]
  var massExtensions: [MassExtension.Key: MassExtension] = [:]
  /// The dates of each subscription's extensions by request, oldest first.
  var extensions: [String: [Timestamp]] = [:]
  /// The dates of first pages of each customer's history that were requested and found.
  var historiesBegun: [CustomerID: [Timestamp]] = [:]
  var consumption: [ConsumptionReport] = []
  /// The size limit of every list that is retained for people to view.
  static let limit = 100_000
  private var random: SplitMix64

  init(world: AppStoreWorld) {
    self.world = world
    faults = FaultPlan(seed: world.seed)
    random = SplitMix64(seed: world.seed ^ 0x7365_7276_6572)
  }

  mutating func uuid() -> String { random.uuid() }

  /// Returns the app in an environment; `nil` outside this world.
  func app(_ place: SimulatedAppScope) -> SimulatedApp? {
    guard var app = world.apps.first(where: { $0.app.bundleID == place.bundleID })?.app else { return nil }
    app.environment = place.environment
    return app
  }

  mutating func collect() {
    for notification in world.drainNotifications() { mailroom.accept(QueuedNotification(notification)) }
  }
}

/// The body of a Send Consumption Information request, unchanged.
struct ConsumptionReport: Sendable {
  let place: SimulatedAppScope
  let transactionID: String
  let date: Timestamp
  let body: JSONObject
}

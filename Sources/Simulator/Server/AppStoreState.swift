import JSON
import Signing
import Time

/// Everything that changes while a simulated App Store is served: the world, and what developers did to it.
///
/// A value behind the server's lock; it decides and answers, and does no I/O.
struct AppStoreState: Sendable {
  var world: AppStoreWorld
  var faults: FaultPlan
  var mailroom = NotificationQueue()
  var destinations: [SimulatedAppScope: Destination] = [:]
  /// The shipments of test notifications, by token.
  var tests: [String: Int] = [:]
  var massExtensions: [MassExtension.Key: MassExtension] = [:]
  /// When each subscription was extended by request, the oldest first.
  var extensions: [String: [Timestamp]] = [:]
  /// When the first page of each customer's history was asked for, and found.
  var historiesBegun: [CustomerID: [Timestamp]] = [:]
  /// What developers told about consumption, the oldest first.
  var consumption: [ConsumptionReport] = []
  /// Nothing of what is kept for people to look at is kept beyond this.
  static let limit = 100_000
  /// For ids that Apple makes up when asked.
  private var random: SplitMix64

  init(world: AppStoreWorld) {
    self.world = world
    faults = FaultPlan(seed: world.seed)
    random = SplitMix64(seed: world.seed ^ 0x7365_7276_6572)
  }

  mutating func uuid() -> String { random.uuid() }

  /// The app as it is in an environment; nil: not in this world.
  func app(_ place: SimulatedAppScope) -> SimulatedApp? {
    guard var app = world.apps.first(where: { $0.app.bundleID == place.bundleID })?.app else { return nil }
    app.environment = place.environment
    return app
  }

  /// Takes what the world has to tell since the last time into the mailroom.
  mutating func collect() {
    for notification in world.drainNotifications() { mailroom.accept(QueuedNotification(notification)) }
  }
}

/// What was told with Send Consumption Information, as it was told.
struct ConsumptionReport: Sendable {
  let place: SimulatedAppScope
  let transactionID: String
  let date: Timestamp
  let body: JSONObject
}

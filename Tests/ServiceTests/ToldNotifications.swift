/// What a simulated world tells of its customers, piece by piece, for tests that decide themselves what of it arrives.
///
/// The world is a twin of the one that a service is served from: the same plan, seed and start tell the same.
struct ToldNotifications: Sendable {
  private(set) var world: AppStoreWorld
  private var untaken: [WorldNotification] = []

  /// - Parameter world: what it has told already is not told here.
  init(_ world: AppStoreWorld) {
    self.world = world
    _ = self.world.drainNotifications()
  }

  /// Longer than any notification of the simulator is under way.
  private static let way = Interval.seconds(10)

  /// Takes what happened until `date`, the earliest first, however long it would be under way.
  mutating func take(until date: Timestamp) -> [WorldNotification] {
    world.advance(to: date + Self.way)
    untaken += world.drainNotifications()
    let taken = untaken.filter { $0.happening.date <= date }
    untaken.removeAll { $0.happening.date <= date }
    return taken
  }
}

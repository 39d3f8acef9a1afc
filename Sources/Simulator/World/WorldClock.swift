package import Time

/// How the time of a world follows the time of the machine.
package struct WorldClock: Hashable, Sendable {
  package enum Pace: Hashable, Sendable {
    /// A second is a second.
    case real
    /// A second is so many seconds; below one it is one.
    case accelerated(Int64)
    /// It stands still until the world is told to advance.
    case stepped
  }

  package let pace: Pace
  private let start: Timestamp
  private let wallStart: Timestamp

  /// - Parameters:
  ///   - start: the world's time when the machine's was `wallStart`.
  package init(_ pace: Pace, from start: Timestamp, at wallStart: Timestamp) {
    self.pace = pace
    self.start = start
    self.wallStart = wallStart
  }

  /// The time that a world should have reached; nil when nobody but its owner moves it.
  ///
  /// A machine whose clock is set back does not move the world back: worlds ignore earlier times.
  package func worldTime(at wall: Timestamp) -> Timestamp? {
    let passed = (wall - wallStart).milliseconds
    switch pace {
    case .real: return start + .milliseconds(passed)
    case .accelerated(let factor):
      let factor = max(1, factor)
      return start + .milliseconds(min(passed, .max / factor) * factor)
    case .stepped: return nil
    }
  }
}

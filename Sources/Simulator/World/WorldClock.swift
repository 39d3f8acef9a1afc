package import Time

package struct WorldClock: Hashable, Sendable {
  package enum Pace: Hashable, Sendable {
    case real
    /// The number of world seconds in a second; below one it is one.
    case accelerated(Int64)
    /// The world's time changes only by advance requests.
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

  /// Returns the world's due time; `nil` if only its owner advances it.
  ///
  /// A machine clock that moves back does not move the world back: worlds ignore earlier times.
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

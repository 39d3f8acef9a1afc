/// Tells a person who insists from one wish that came as two signals.
///
/// `timeout` signals its command and then the command's group, and a terminal signals everybody in it while a supervisor does
/// so too: the second arrives within a millisecond, and nobody meant it as a second one.
struct RepeatedSignalFilter: Sendable {
  enum Kind: Sendable {
    /// The first one: asks for the stop.
    case first
    /// The first one once more.
    case again
    /// Somebody insists.
    case second
  }

  /// For so long after the first a signal is the same wish.
  static let interval = Duration.milliseconds(300)

  private var first: ContinuousClock.Instant?

  mutating func note(at now: ContinuousClock.Instant) -> Kind {
    guard let first else {
      self.first = now
      return .first
    }
    return now - first < Self.interval ? .again : .second
  }
}

import Synchronization

/// Lets one line of the log through in a minute, and counts the others: what anybody can cause must not fill the log.
package final class LogPace: Sendable {
  private struct Line {
    var quietUntil: ContinuousClock.Instant
    var leftOut = 0
  }

  private let every: Duration
  private let lines = Mutex<[String: Line]>([:])

  package init(every: Duration = .seconds(60)) { self.every = every }

  /// Returns how many lines were left out since the last one, if one is to be written now; nil if this one is left out.
  ///
  /// - Parameter kind: lines of different kinds do not count for one another; one of few words, since each is kept.
  package func turn(of kind: String, at now: ContinuousClock.Instant = .now) -> Int? {
    lines.withLock { lines in
      if let line = lines[kind], now < line.quietUntil {
        lines[kind]?.leftOut += 1
        return nil
      }
      let leftOut = lines[kind]?.leftOut ?? 0
      lines[kind] = Line(quietUntil: now + every)
      return leftOut
    }
  }
}

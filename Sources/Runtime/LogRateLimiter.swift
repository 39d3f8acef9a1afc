import Synchronization

/// Lets a few lines of the log through in a minute, and counts the others: what anybody can cause must not fill the log.
package final class LogRateLimiter: Sendable {
  private struct Line {
    /// When the minute is over that began with the first line.
    var end: ContinuousClock.Instant
    var written = 1
    var leftOut = 0
  }

  private let every: Duration
  private let most: Int
  private let lines = Mutex<[String: Line]>([:])

  /// - Parameter most: lines of a kind that are written in the time.
  package init(_ most: Int = 1, every: Duration = .seconds(60)) {
    self.every = every
    self.most = most
  }

  /// Returns how many lines were left out since the last one, if one is to be written now; nil if this one is left out.
  ///
  /// - Parameter kind: lines of different kinds do not count for one another; one of few words, since each is kept.
  package func turn(of kind: String, at now: ContinuousClock.Instant = .now) -> Int? {
    lines.withLock { lines in
      guard var line = lines[kind], now < line.end else {
        return lines.updateValue(Line(end: now + every), forKey: kind)?.leftOut ?? 0
      }
      defer { lines[kind] = line }
      guard line.written < most else {
        line.leftOut += 1
        return nil
      }
      line.written += 1
      return 0
    }
  }
}

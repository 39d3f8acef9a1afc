import Glibc

/// How much longer something takes for a large input than for a small one.
///
/// Counted is the time this thread had a core, the best of a few rounds taken in turns: other work on the machine slows
/// both down, and only this work makes one of them grow.
package enum Growth {
  /// - Parameters:
  ///   - rounds: how often each is done; the best counts.
  package static func ratio(rounds: Int = 3, small: () throws -> Void, large: () throws -> Void) rethrows -> Double {
    var (best, bestLarge) = (Double.infinity, Double.infinity)
    for _ in 0..<rounds {
      best = min(best, try seconds(small))
      bestLarge = min(bestLarge, try seconds(large))
    }
    return bestLarge / best
  }

  private static func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = threadSeconds()
    try work()
    return threadSeconds() - start
  }

  private static func threadSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

import Glibc

/// How much longer something takes for a large input than for a small one.
///
/// Counted is the time this thread had a core, the best of a few rounds taken in turns: other work on the machine slows
/// both down, and only this work makes one of them grow.
package enum Growth {
  /// Returns the ratio of the best times: of 3 rounds, or of up to 15 while it is not below `bound`.
  package static func ratio(
    below bound: Double, small: () throws -> Void, large: () throws -> Void
  ) rethrows -> Double {
    var (best, bestLarge) = (Double.infinity, Double.infinity)
    for round in 0..<15 where round < 3 || bestLarge / best >= bound {
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

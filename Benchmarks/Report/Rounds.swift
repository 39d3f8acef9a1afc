import Glibc

/// Times two pieces of work in turns, A B A B, so that whatever slows the machine down slows both.
///
/// Counted is the time this thread had a core, not the time that passed: others share the machine. The medians of the
/// rounds are compared.
struct Rounds {
  let count: Int

  /// Nanoseconds that each takes, after one round of each to warm up.
  func medians(_ a: () throws -> Void, _ b: () throws -> Void) rethrows -> (a: Double, b: Double) {
    var (timesA, timesB): ([Double], [Double]) = ([], [])
    for round in 0...count {
      let (timeA, timeB) = (try time(a), try time(b))
      guard round > 0 else { continue }
      timesA.append(timeA)
      timesB.append(timeB)
    }
    return (Self.median(timesA), Self.median(timesB))
  }

  static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
  }

  private func time(_ work: () throws -> Void) rethrows -> Double {
    let start = Self.threadNanoseconds()
    try work()
    return Self.threadNanoseconds() - start
  }

  private static func threadNanoseconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}

/// How long to wait before what failed is tried again.
package struct Backoff: Hashable, Sendable {
  package var first: Interval
  package var longest: Interval

  package init(first: Interval = .seconds(1), longest: Interval = .minutes(15)) {
    (self.first, self.longest) = (first, longest)
  }

  /// The longest wait after the attempt of that number, from 1: doubled each time.
  ///
  /// The wait itself is drawn evenly from zero up to it ("full jitter"), so that what failed together does not come back
  /// together.
  package func ceiling(after attempt: Int) -> Interval {
    let factor = Int64(1) << Int64(min(max(0, attempt - 1), 30))
    return min(longest, .milliseconds(first.milliseconds * factor))
  }
}

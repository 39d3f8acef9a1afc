/// How many attempts may be under way at once in one lane of a destination.
///
/// An old back end heard Apple at Apple's pace; a backlog must not come over it faster than it can answer. It begins
/// with as many as it always took and finds out: one more for each round of answers for as long as all are in use and
/// answers take no longer than usual, half as many when the destination fails.
package struct Slots: Hashable, Sendable {
  /// At the beginning.
  static let first = 32.0
  static let bounds = 4.0...128.0
  /// An answer that takes this much longer than usual, or twice as long, says that more at once would only wait.
  private static let tolerance = 20.0
  /// The part of the way by which what is usual follows answers that take longer; it follows faster ones at once.
  private static let drift = 0.0005

  private var exact = first
  /// Milliseconds; nil before the first answer.
  private var usual: Double?
  /// Attempts that ended since it was last cut: those under way then tell nothing new.
  private var endedSinceCut = Int.max

  package init() {}

  package var limit: Int { Int(exact) }

  /// Notes an answer that took so long, with so many under way, itself included.
  package mutating func noteAnswer(within milliseconds: Int64, underWay: Int) {
    noteEnd()
    let took = Double(max(0, milliseconds))
    let before = usual ?? took
    usual = min(took, before + (took - before) * Self.drift)
    guard underWay >= limit, took <= max(2 * before, before + Self.tolerance) else { return }
    // Back to where it began as fast as answers come, from there one in a round.
    exact = min(Self.bounds.upperBound, exact + (exact < Self.first ? 1 : 1 / exact))
  }

  /// Notes an attempt that failed for the destination's sake.
  package mutating func noteFailure() {
    noteEnd()
    guard endedSinceCut >= limit else { return }
    exact = max(Self.bounds.lowerBound, exact / 2)
    endedSinceCut = 0
  }

  private mutating func noteEnd() {
    if endedSinceCut < .max { endedSinceCut += 1 }
  }
}

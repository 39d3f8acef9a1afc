/// How long one side took to answer verifyReceipt in a span of time, and how many calls got no answer.
///
/// Times are kept as the steps of `bounds`: a time that is read here is at most half as long again as it was.
package struct ResponseTimeStatistics: Hashable, Sendable {
  /// Who answers; its number in the table.
  package enum Side: Int, Hashable, Sendable, CaseIterable {
    case apple = 1
    case ours = 2
    /// Answers of ours that nobody got: they were composed to be compared.
    case composed = 3
  }

  /// The steps in milliseconds; the last one also counts what took longer.
  package static let bounds = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000,
    10_000,
    15_000, 20_000, 30_000, 60_000,
  ]

  /// The answers by their step.
  private let answered: [Int: Int]
  /// Calls that got no answer.
  package let errors: Int

  package init(answered: [Int: Int] = [:], errors: Int = 0) {
    self.answered = answered
    self.errors = errors
  }

  /// How many answers were given.
  package var answers: Int { answered.values.reduce(0, +) }

  /// How many calls there were, those without an answer among them.
  package var calls: Int { answers + errors }

  /// The figures of both together.
  package static func + (a: Self, b: Self) -> Self {
    Self(answered: a.answered.merging(b.answered, uniquingKeysWith: +), errors: a.errors + b.errors)
  }

  /// The milliseconds within which this share of the answers was given; nil where there was none.
  ///
  /// - Parameter share: from 0 to 1; 0.5 is the median.
  package func milliseconds(within share: Double) -> Int? { milliseconds(of: answers, within: share) }

  /// The lower end of the step whose upper end is `milliseconds(within:)`: whatever is slower took more than that.
  package func millisecondsExceeded(beyond share: Double) -> Int? {
    milliseconds(within: share).map { upper in Self.bounds.last { $0 < upper } ?? 0 }
  }

  /// The milliseconds within which this share of the calls was answered; nil where too many got no answer.
  package func milliseconds(withinOfCalls share: Double) -> Int? { milliseconds(of: calls, within: share) }

  private func milliseconds(of count: Int, within share: Double) -> Int? {
    var left = max(1, Int((share * Double(count)).rounded(.up)))
    for (bound, count) in answered.sorted(by: { $0.key < $1.key }) {
      left -= count
      if left <= 0 { return bound }
    }
    return nil
  }

  /// The step of a length of time.
  static func bound(of time: Duration) -> Int {
    bounds.first { time <= .milliseconds($0) } ?? bounds[bounds.count - 1]
  }
}

/// The verifyReceipt response times of one side in a period, and its failed calls.
///
/// Times are steps of `bounds`, so a value exceeds the real time by at most half of it.
package struct ResponseTimeStatistics: Hashable, Sendable {
  /// The source of the response, with its number in the table.
  package enum Side: Int, Hashable, Sendable, CaseIterable {
    case apple = 1
    case ours = 2
    /// Switchyard's responses that were only composed for comparison and not sent.
    case composed = 3
  }

  /// The steps in milliseconds.
  ///
  /// The last one includes all longer times.
  package static let bounds = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000,
    10_000,
    15_000, 20_000, 30_000, 60_000,
  ]

  private let answered: [Int: Int]
  /// The failed calls.
  package let errors: Int

  package init(answered: [Int: Int] = [:], errors: Int = 0) {
    self.answered = answered
    self.errors = errors
  }

  package var answers: Int { answered.values.reduce(0, +) }

  package var calls: Int { answers + errors }

  package static func + (a: Self, b: Self) -> Self {
    Self(answered: a.answered.merging(b.answered, uniquingKeysWith: +), errors: a.errors + b.errors)
  }

  /// Returns the milliseconds within which this share of the responses was sent, or `nil` without responses.
  ///
  /// - Parameter share: from 0 to 1. 0.5 is the median.
  package func milliseconds(within share: Double) -> Int? { milliseconds(of: answers, within: share) }

  /// Returns the lower end of the step whose upper end is `milliseconds(within:)`.
  package func millisecondsExceeded(beyond share: Double) -> Int? {
    milliseconds(within: share).map { upper in Self.bounds.last { $0 < upper } ?? 0 }
  }

  /// Returns the milliseconds within which this share of the calls was answered, or `nil` if too many failed.
  package func milliseconds(withinOfCalls share: Double) -> Int? { milliseconds(of: calls, within: share) }

  private func milliseconds(of count: Int, within share: Double) -> Int? {
    var left = max(1, Int((share * Double(count)).rounded(.up)))
    for (bound, count) in answered.sorted(by: { $0.key < $1.key }) {
      left -= count
      if left <= 0 { return bound }
    }
    return nil
  }

  static func bound(of time: Duration) -> Int {
    bounds.first { time <= .milliseconds($0) } ?? bounds[bounds.count - 1]
  }
}

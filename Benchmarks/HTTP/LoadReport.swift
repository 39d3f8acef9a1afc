/// What became of a load.
struct LoadReport: Sendable {
  /// Microseconds from when a request was due to the last byte of its answer, the smallest first.
  private let latencies: [UInt32]
  /// Answers by status.
  let statuses: [Int: Int]
  /// Requests whose connection broke before an answer.
  let unanswered: Int
  let seconds: Double

  init(latencies: [UInt32], statuses: [Int: Int], unanswered: Int, seconds: Double) {
    self.latencies = latencies.sorted()
    self.statuses = statuses
    self.unanswered = unanswered
    self.seconds = seconds
  }

  var acknowledged: Int { statuses[200] ?? 0 }
  var perSecond: Double { Double(acknowledged) / seconds }
  /// Everything but 200.
  var failures: Int { statuses.values.reduce(0, +) - acknowledged + unanswered }

  /// Milliseconds within which this share of the requests was answered.
  func milliseconds(_ share: Double) -> Double {
    guard !latencies.isEmpty else { return .nan }
    return Double(latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]) / 1_000
  }
}

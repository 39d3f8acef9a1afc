/// What became of a load.
struct LoadReport: Sendable {
  /// Microseconds from when a request was due to the last byte of its answer, the smallest first.
  private let latencies: [UInt32]
  /// The same in the order of the answers.
  private let inOrder: [UInt32]
  /// Answers by status.
  let statuses: [Int: Int]
  /// Requests whose connection broke before an answer.
  let unanswered: Int
  let seconds: Double
  /// Milliseconds since the beginning at which each answer came, in their order.
  private let answers: [UInt32]

  init(latencies: [UInt32], answers: [UInt32], statuses: [Int: Int], unanswered: Int, seconds: Double) {
    self.latencies = latencies.sorted()
    inOrder = latencies
    self.answers = answers
    self.statuses = statuses
    self.unanswered = unanswered
    self.seconds = seconds
  }

  var acknowledged: Int { statuses[200] ?? 0 }
  var perSecond: Double { Double(acknowledged) / seconds }
  /// Everything but 200.
  var failures: Int { statuses.values.reduce(0, +) - acknowledged + unanswered }

  /// Answers a second in each of so many parts of the load, of equal length.
  func perSecond(inParts parts: Int) -> [Double] {
    (0..<parts).map { part in
      let (first, end) = (answers.count * part / parts, answers.count * (part + 1) / parts)
      guard first < end else { return .nan }
      let start = first == 0 ? 0 : answers[first - 1]
      return Double(end - first) * 1_000 / Double(max(1, answers[end - 1] - start))
    }
  }

  /// Milliseconds within which this share of the requests was answered.
  func milliseconds(_ share: Double) -> Double {
    guard !latencies.isEmpty else { return .nan }
    return Self.milliseconds(share, of: latencies)
  }

  /// The median of the same in each of so many parts of the load, of equal length.
  ///
  /// If the disk stalls once, it spoils one part alone.
  func milliseconds(_ share: Double, medianOf parts: Int) -> Double {
    let parts = max(1, min(parts, inOrder.count))
    guard !inOrder.isEmpty else { return .nan }
    let each = (0..<parts).map { part in
      Self.milliseconds(
        share, of: inOrder[inOrder.count * part / parts..<inOrder.count * (part + 1) / parts].sorted())
    }.sorted()
    return each[(each.count - 1) / 2]
  }

  private static func milliseconds(_ share: Double, of sorted: [UInt32]) -> Double {
    Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1_000
  }
}

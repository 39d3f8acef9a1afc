import Synchronization

/// One series: what a family makes for each combination of label values.
package protocol Metric: AnyObject, Sendable {
  func render(name: String, labels: String, to text: inout PrometheusText)
}

/// Counts up, by one relaxed atomic addition: the surface of `Counter` in swift-metrics.
package final class Counter: Metric {
  private let total = Atomic<UInt64>(0)

  package init() {}

  package func increment(by amount: UInt64 = 1) { total.wrappingAdd(amount, ordering: .relaxed) }

  package var value: UInt64 { total.load(ordering: .relaxed) }

  package func render(name: String, labels: String, to text: inout PrometheusText) {
    text.sample(name, labels: labels, value: String(value))
  }
}

/// Goes up and down, one atomic word: the surface of `Gauge` and `Meter` in swift-metrics.
package final class Gauge: Metric {
  private let bits = Atomic<UInt64>(Double(0).bitPattern)

  package init() {}

  package func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
  package func record(_ value: some BinaryInteger) { record(Double(value)) }

  package func increment(by amount: Double = 1) {
    var seen = bits.load(ordering: .relaxed)
    while true {
      let next = (Double(bitPattern: seen) + amount).bitPattern
      let (isExchanged, original) = bits.weakCompareExchange(expected: seen, desired: next, ordering: .relaxed)
      if isExchanged { return }
      seen = original
    }
  }

  package func decrement(by amount: Double = 1) { increment(by: -amount) }

  package var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  package func render(name: String, labels: String, to text: inout PrometheusText) {
    text.sample(name, labels: labels, value: PrometheusText.number(value))
  }
}

/// Counts values by size, under a lock of its own: the surface of `Recorder` and `Timer` in swift-metrics.
package final class Histogram: Metric {
  /// From half a millisecond to ten seconds.
  package static let seconds: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// From 256 bytes to 16 MiB.
  package static let bytes: [Double] = [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 16_777_216]

  private let bounds: [Double]
  private let state: Mutex<(counts: [UInt64], sum: Double)>

  package init(bounds: [Double]) {
    self.bounds = bounds
    state = Mutex((Array(repeating: 0, count: bounds.count + 1), 0))
  }

  /// Counts a value, in the unit of the name; what is not a number is left out.
  package func record(_ value: Double) {
    guard !value.isNaN else { return }
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock {
      $0.counts[bucket] += 1
      $0.sum += value
    }
  }

  /// Counts a length of time, in seconds.
  package func record(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    record(Double(seconds) + Double(attoseconds) / 1e18)
  }

  package func recordNanoseconds(_ nanoseconds: Int64) { record(Double(nanoseconds) / 1e9) }

  package var count: UInt64 { state.withLock { $0.counts.reduce(0, +) } }
  package var sum: Double { state.withLock { $0.sum } }

  package func render(name: String, labels: String, to text: inout PrometheusText) {
    let (counts, sum) = state.withLock { $0 }
    var total: UInt64 = 0
    for (index, count) in counts.enumerated() {
      total += count
      let bound = index < bounds.count ? PrometheusText.number(bounds[index]) : "+Inf"
      let separator = labels.isEmpty ? "" : ","
      text.sample(name + "_bucket", labels: "\(labels)\(separator)le=\"\(bound)\"", value: String(total))
    }
    text.sample(name + "_sum", labels: labels, value: PrometheusText.number(sum))
    text.sample(name + "_count", labels: labels, value: String(total))
  }
}

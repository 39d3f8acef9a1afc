import Synchronization

/// All series of one metric; a series comes into being when its label values are first named.
///
/// Bounded: beyond `limit` combinations everything new is counted under "other", and that this happened is counted in
/// `switchyard_metrics_overflow_total`. Keep the series where the path is hot: `let stored = received["demo", "stored"]`.
package final class MetricFamily<Series: Metric>: Sendable {
  package static var other: String { "other" }
  private static var longestValue: Int { 128 }

  package let description: MetricDescription
  private let limit: Int
  private let make: @Sendable () -> Series
  private let overflow: Counter?
  private let series: Mutex<[[String]: Series]>

  init(
    _ description: MetricDescription, limit: Int, overflow: Counter?, make: @escaping @Sendable () -> Series
  ) {
    self.description = description
    self.limit = limit
    self.make = make
    self.overflow = overflow
    series = Mutex(description.labels.isEmpty ? [[]: make()] : [:])
  }

  /// The series of these label values, in the order in which the labels were declared; a wrong number of them stops the
  /// process.
  package subscript(values: String...) -> Series { self[values] }

  package subscript(values: [String]) -> Series {
    precondition(
      values.count == description.labels.count,
      "\(description.name) has the labels \(description.labels), given were \(values.count) values")
    let key = Self.key(values)
    return series.withLock { series in
      if let known = series[key] { return known }
      if series.count < limit {
        let new = make()
        series[key] = new
        return new
      }
      overflow?.increment()
      let others = key.map { _ in Self.other }
      if let known = series[others] { return known }
      let new = make()
      series[others] = new
      return new
    }
  }

  /// Forgets every series but those of these label values; one that is named again begins anew.
  package func keep(only values: some Sequence<[String]>) {
    let keys = Set(values.map(Self.key))
    series.withLock { series in series = series.filter { keys.contains($0.key) } }
  }

  private static func key(_ values: [String]) -> [String] {
    values.map {
      $0.utf8.count <= longestValue ? $0 : String(decoding: $0.utf8.prefix(longestValue), as: UTF8.self) + "…"
    }
  }

  func render(to text: inout PrometheusText) {
    text.header(description)
    let sorted = series.withLock { Array($0) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for (values, series) in sorted {
      series.render(
        name: description.name, labels: PrometheusText.labels(description.labels, values), to: &text)
    }
  }
}

extension MetricFamily where Series == Counter {
  package func increment(_ values: String..., by amount: UInt64 = 1) { self[values].increment(by: amount) }
}

extension MetricFamily where Series == Gauge {
  package func record(_ value: Double, _ values: String...) { self[values].record(value) }
}

extension MetricFamily where Series == Histogram {
  package func record(_ value: Double, _ values: String...) { self[values].record(value) }
  package func record(_ duration: Duration, _ values: String...) { self[values].record(duration) }
}

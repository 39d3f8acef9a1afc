import Synchronization

/// Every metric of the process, declared with its help; renders what Prometheus scrapes.
///
/// A declaration is code, so a wrong one stops the process (`MetricDescription.problem` says why). Declaring the same
/// metric again gives the same family, so that two parts may share one; a different one of the same name stops the
/// process.
package final class MetricsRegistry: Sendable {
  private struct Entry {
    let description: MetricDescription
    let family: any Sendable
    let render: @Sendable (inout PrometheusText) -> Void
  }

  private let entries = Mutex<[String: Entry]>([:])
  private let limit: Int
  private let overflow: MetricFamily<Counter>

  /// A registry in which no metric has more than `seriesLimit` series, "other" not counted, unless it has a limit of its own.
  package init(seriesLimit: Int = 256) {
    limit = seriesLimit
    let description = MetricDescription(
      name: "switchyard_metrics_overflow_total", kind: .counter,
      help: "Lookups of series that went to \"other\" because the metric had too many.", labels: ["metric"])
    let overflow = MetricFamily(description, limit: .max, overflow: nil) { Counter() }
    self.overflow = overflow
    entries.withLock {
      $0[description.name] = Entry(description: description, family: overflow) { overflow.render(to: &$0) }
    }
  }

  /// A count of what happened; the name ends with `_total`.
  ///
  /// - Parameter seriesLimit: how many series it may have; nil: the registry's limit.
  package func counter(
    _ name: String, help: String, labels: [String] = [], seriesLimit: Int? = nil
  ) -> MetricFamily<Counter> {
    family(MetricDescription(name: name, kind: .counter, help: help, labels: labels), atMost: seriesLimit) { Counter() }
  }

  /// A value that goes up and down.
  package func gauge(_ name: String, help: String, labels: [String] = []) -> MetricFamily<Gauge> {
    family(MetricDescription(name: name, kind: .gauge, help: help, labels: labels)) { Gauge() }
  }

  /// A gauge without labels that is asked at each scrape; `read` must be quick.
  package func gauge(_ name: String, help: String, read: @escaping @Sendable () -> Double) {
    observe(MetricDescription(name: name, kind: .gauge, help: help, labels: []), read)
  }

  /// A counter without labels that another part keeps and that is asked at each scrape; `read` must be quick.
  package func counter(_ name: String, help: String, read: @escaping @Sendable () -> Int) {
    observe(MetricDescription(name: name, kind: .counter, help: help, labels: [])) { Double(read()) }
  }

  private func observe(_ description: MetricDescription, _ read: @escaping @Sendable () -> Double) {
    check(description)
    entries.withLock {
      precondition($0[description.name] == nil, "the metric \(description.name) is declared twice")
      $0[description.name] = Entry(description: description, family: self) { text in
        text.header(description)
        text.sample(description.name, labels: "", value: PrometheusText.number(read()))
      }
    }
  }

  /// A gauge with one label that is asked at each scrape for the label's values and theirs; `read` must be quick.
  package func gauge(
    _ name: String, help: String, label: String, read: @escaping @Sendable () -> [(label: String, value: Double)]
  ) {
    let description = MetricDescription(name: name, kind: .gauge, help: help, labels: [label])
    check(description)
    entries.withLock {
      precondition($0[name] == nil, "the metric \(name) is declared twice")
      $0[name] = Entry(description: description, family: self) { text in
        text.header(description)
        for (value, amount) in read() {
          text.sample(name, labels: PrometheusText.labels([label], [value]), value: PrometheusText.number(amount))
        }
      }
    }
  }

  /// A distribution of durations; the name ends with `_seconds`.
  package func timer(
    _ name: String, help: String, labels: [String] = [], buckets: [Double] = Histogram.seconds
  ) -> MetricFamily<Histogram> {
    precondition(name.hasSuffix("_seconds"), "the timer \(name) does not end with _seconds")
    return histogram(name, help: help, labels: labels, buckets: buckets)
  }

  /// A distribution of values; the name ends with its unit, the buckets rise.
  package func histogram(
    _ name: String, help: String, labels: [String] = [], buckets: [Double]
  ) -> MetricFamily<Histogram> {
    precondition(
      zip(buckets, buckets.dropFirst()).allSatisfy(<) && buckets.allSatisfy(\.isFinite),
      "the buckets of \(name) do not rise")
    return family(MetricDescription(name: name, kind: .histogram, help: help, labels: labels)) {
      Histogram(bounds: buckets)
    }
  }

  /// Every metric declared so far, by name.
  package var catalog: [MetricDescription] {
    entries.withLock { $0.values.map(\.description) }.sorted { $0.name < $1.name }
  }

  /// What `/metrics` answers: text exposition 0.0.4, metrics by name, series by label values.
  package func prometheusText() -> [UInt8] {
    let sorted = entries.withLock { Array($0) }.sorted { $0.key < $1.key }
    var text = PrometheusText()
    for (_, entry) in sorted { entry.render(&text) }
    return text.bytes
  }

  private func check(_ description: MetricDescription) {
    if let problem = description.problem { preconditionFailure("the metric \(description.name): \(problem)") }
  }

  private func family<Series: Metric>(
    _ description: MetricDescription, atMost seriesLimit: Int? = nil, make: @escaping @Sendable () -> Series
  ) -> MetricFamily<Series> {
    check(description)
    return entries.withLock { entries in
      if let known = entries[description.name] {
        guard known.description == description, let family = known.family as? MetricFamily<Series> else {
          preconditionFailure("the metric \(description.name) is declared twice, and differently")
        }
        return family
      }
      let family = MetricFamily(
        description, limit: seriesLimit ?? limit, overflow: overflow[description.name], make: make)
      entries[description.name] = Entry(description: description, family: family) { family.render(to: &$0) }
      return family
    }
  }
}

@Suite struct `The metrics` {
  private let registry = MetricsRegistry()

  private func samples() -> [String] {
    String(decoding: registry.prometheusText(), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func `forget the series that are not kept, and begin them anew`() {
    let states = registry.gauge("switchyard_state", help: "States.", labels: ["app"])
    let long = String(repeating: "x", count: 200)
    for app in ["kept", "gone", long] { states[app].record(2) }
    states.keep(only: [["kept"], [long], ["never"]])
    let shown = samples().filter { $0.hasPrefix("switchyard_state{") }
    #expect(shown.count == 2 && shown[0] == "switchyard_state{app=\"kept\"} 2", "\(shown)")
    states["gone"].record(1)
    #expect(samples().contains("switchyard_state{app=\"gone\"} 1"))
    states.keep(only: [[String]]())
    #expect(!samples().contains { $0.hasPrefix("switchyard_state{") })
  }

  @Test func `may have a limit of series of their own`() {
    let registry = MetricsRegistry(seriesLimit: 1)
    let few = registry.counter("switchyard_few_total", help: "Few.", labels: ["app"])
    let many = registry.counter("switchyard_many_total", help: "Many.", labels: ["app"], seriesLimit: 3)
    for app in ["one", "two", "three"] {
      few.increment(app)
      many.increment(app)
    }
    let text = String(decoding: registry.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_few_total{app=\"other\"} 2"), "\(text)")
    #expect(text.contains("switchyard_many_total{app=\"three\"} 1"), "\(text)")
  }

  @Test func `are rendered as Prometheus reads them`() {
    let received = registry.counter("switchyard_received_total", help: "Bodies received.", labels: ["app", "kind"])
    received.increment("demo", "V2")
    received.increment("demo", "V2", by: 4)
    received["demo", "V1"].increment()
    registry.gauge("switchyard_inbox_lag_seconds", help: "Now minus the oldest.").record(1.5)
    let timer = registry.timer("switchyard_verify_seconds", help: "Time.", labels: ["app"], buckets: [0.001, 0.1])
    timer.record(.microseconds(500), "demo")
    timer.record(.milliseconds(50), "demo")
    timer["demo"].recordNanoseconds(2_000_000_000)
    #expect(
      String(decoding: registry.prometheusText(), as: UTF8.self) == """
        # HELP switchyard_inbox_lag_seconds Now minus the oldest.
        # TYPE switchyard_inbox_lag_seconds gauge
        switchyard_inbox_lag_seconds 1.5
        # HELP switchyard_metrics_overflow_total Lookups of series that went to "other" because the metric had too many.
        # TYPE switchyard_metrics_overflow_total counter
        switchyard_metrics_overflow_total{metric="switchyard_inbox_lag_seconds"} 0
        switchyard_metrics_overflow_total{metric="switchyard_received_total"} 0
        switchyard_metrics_overflow_total{metric="switchyard_verify_seconds"} 0
        # HELP switchyard_received_total Bodies received.
        # TYPE switchyard_received_total counter
        switchyard_received_total{app="demo",kind="V1"} 1
        switchyard_received_total{app="demo",kind="V2"} 5
        # HELP switchyard_verify_seconds Time.
        # TYPE switchyard_verify_seconds histogram
        switchyard_verify_seconds_bucket{app="demo",le="0.001"} 1
        switchyard_verify_seconds_bucket{app="demo",le="0.1"} 2
        switchyard_verify_seconds_bucket{app="demo",le="+Inf"} 3
        switchyard_verify_seconds_sum{app="demo"} 2.0505
        switchyard_verify_seconds_count{app="demo"} 3

        """)
  }

  @Test func `escape labels and help`() {
    registry.counter("a_total", help: "one\\two\nthree \"four\"", labels: ["v"]).increment("a\"b\\c\nd")
    #expect(samples().contains(#"# HELP a_total one\\two\nthree "four""#))
    #expect(samples().contains(#"a_total{v="a\"b\\c\nd"} 1"#))
  }

  @Test(arguments: [
    (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (0, "0"), (-3, "-3"), (0.25, "0.25"),
    (1e300, "1e+300"),
  ])
  func `write numbers as Go reads them`(value: Double, text: String) {
    registry.gauge("a", help: "A.").record(value)
    #expect(samples().contains("a \(text)"))
  }

  @Test func `start at zero when they have no labels`() {
    _ = registry.counter("a_total", help: "A.")
    #expect(samples().contains("a_total 0"))
  }

  @Test func `ask an observed gauge at each scrape`() {
    let counter = Counter()
    registry.gauge("observed", help: "O.") { Double(counter.value) }
    counter.increment(by: 2)
    #expect(samples().contains("observed 2"))
    counter.increment()
    #expect(samples().contains("observed 3"))
  }

  @Test func `gauges go both ways and leave out nothing under contention`() async {
    let gauge = registry.gauge("g", help: "G.")[]
    let counter = registry.counter("c_total", help: "C.")[]
    let histogram = registry.histogram("h_bytes", help: "H.", buckets: Histogram.bytes)[]
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<1_000 {
            gauge.increment(by: 2)
            gauge.decrement()
            counter.increment()
            histogram.record(300)
          }
        }
      }
    }
    #expect(gauge.value == 4_000)
    #expect(counter.value == 4_000)
    #expect(histogram.count == 4_000)
    #expect(histogram.sum == 1_200_000)
  }

  @Test func `put a value on a bucket's bound into the bucket, and leave out what is not a number`() {
    let histogram = registry.histogram("h_bytes", help: "H.", buckets: [1, 2])[]
    for value in [1, 2, 2.5, .nan] { histogram.record(value) }
    #expect(samples().contains("h_bytes_bucket{le=\"1\"} 1"))
    #expect(samples().contains("h_bytes_bucket{le=\"2\"} 2"))
    #expect(samples().contains("h_bytes_count 3"))
  }

  @Test func `count what exceeds the limit of series under other`() {
    let registry = MetricsRegistry(seriesLimit: 2)
    let counter = registry.counter("a_total", help: "A.", labels: ["app", "kind"])
    for app in ["a", "b", "c", "d", "a", "c"] { counter.increment(app, "V2") }
    let text = String(decoding: registry.prometheusText(), as: UTF8.self)
    #expect(text.contains("a_total{app=\"a\",kind=\"V2\"} 2\n"))
    #expect(text.contains("a_total{app=\"other\",kind=\"other\"} 3\n"))
    #expect(text.contains("switchyard_metrics_overflow_total{metric=\"a_total\"} 3\n"))
    #expect(text.split(separator: "\n").count { $0.hasPrefix("a_total{") } == 3)
  }

  @Test func `cut a label value that is too long`() {
    registry.counter("a_total", help: "A.", labels: ["v"]).increment(String(repeating: "x", count: 1_000_000))
    #expect(registry.prometheusText().count < 1_000)
  }

  @Test func `give one family to all who declare the same`() {
    let first = registry.counter("a_total", help: "A.", labels: ["v"])
    #expect(first === registry.counter("a_total", help: "A.", labels: ["v"]))
  }

  @Test func `list themselves for documentation and tests`() {
    _ = registry.timer("t_seconds", help: "T.", labels: ["app"])
    let timer = registry.catalog.first { $0.name == "t_seconds" }
    #expect(timer?.labels == ["app"])
    #expect(timer?.seriesNames == ["t_seconds_bucket", "t_seconds_sum", "t_seconds_count"])
    #expect(registry.catalog.map(\.name) == ["switchyard_metrics_overflow_total", "t_seconds"])
  }
}

@Suite struct `The declaration of a metric` {
  typealias Row = (
    name: String, kind: MetricDescription.Kind, labels: [String], help: String, problem: MetricDescription.Problem?
  )

  @Test(
    arguments: [
      ("a_total", .counter, ["app"], "A.", nil), ("lag_seconds", .gauge, [], "A.", nil),
      ("body_bytes", .histogram, [], "A.", nil), ("Upper_total", .counter, [], "A.", .grammar("Upper_total")),
      ("a-b_total", .counter, [], "A.", .grammar("a-b_total")), ("1_total", .counter, [], "A.", .grammar("1_total")),
      ("", .gauge, [], "A.", .grammar("")), ("é", .gauge, [], "A.", .grammar("é")),
      ("a", .counter, [], "A.", .unit("a")), ("a_total", .gauge, [], "A.", .unit("a_total")),
      ("a", .histogram, [], "A.", .unit("a")), ("a_count", .gauge, [], "A.", .reserved("a_count")),
      ("a", .gauge, ["le"], "A.", .reserved("le")), ("a", .gauge, ["v", "v"], "A.", .reserved("v")),
      ("a", .gauge, ["__v"], "A.", .grammar("__v")), ("a", .gauge, [], "", .emptyHelp),
    ] as [Row])
  func `is refused for a reason`(row: Row) {
    let description = MetricDescription(name: row.name, kind: row.kind, help: row.help, labels: row.labels)
    #expect(description.problem == row.problem)
  }

  @Test func `stops the process when it is wrong`() async {
    await #expect(processExitsWith: .failure) { _ = MetricsRegistry().counter("a", help: "A.") }
    await #expect(processExitsWith: .failure) { _ = MetricsRegistry().timer("a_bytes", help: "A.") }
    await #expect(processExitsWith: .failure) {
      _ = MetricsRegistry().histogram("a_bytes", help: "A.", buckets: [2, 1])
    }
    await #expect(processExitsWith: .failure) {
      let registry = MetricsRegistry()
      _ = registry.counter("a_total", help: "A.")
      _ = registry.counter("a_total", help: "Another.")
    }
    await #expect(processExitsWith: .failure) {
      MetricsRegistry().counter("a_total", help: "A.", labels: ["v"]).increment()
    }
  }
}

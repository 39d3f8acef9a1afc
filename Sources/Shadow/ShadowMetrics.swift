import Runtime

/// What is counted of comparisons.
struct ShadowMetrics: Sendable {
  let comparisons: MetricFamily<Counter>
  let impact: MetricFamily<Counter>
  let settled: MetricFamily<Counter>
  let calls: MetricFamily<Counter>

  init(_ registry: MetricsRegistry) {
    comparisons = registry.counter(
      "switchyard_comparisons_total",
      help:
        "Switchyard's responses compared with Apple's, by the first cause of the gravest difference; equal: no difference.",
      labels: ["app", "environment", "cause"])
    impact = registry.counter(
      "switchyard_comparison_impact_total",
      help: "Comparisons in which a customer's access would have differed by Switchyard's response.",
      labels: ["app", "environment"])
    settled = registry.counter(
      "switchyard_comparisons_final_total",
      help: "Comparisons that were judged again after the settling time, by their final cause.",
      labels: ["app", "environment", "cause"])
    calls = registry.counter(
      "switchyard_shadow_calls_total",
      help:
        "verifyReceipt calls that were offered for comparison, by outcome; shed and late: no capacity or no time.",
      labels: ["outcome"])
    for outcome in ShadowOutcome.allCases { calls[outcome.rawValue].increment(by: 0) }
  }
}

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
        "Answers of ours compared with Apple's, by the cause of the gravest difference as it was first judged; equal: no difference.",
      labels: ["app", "environment", "cause"])
    impact = registry.counter(
      "switchyard_comparison_impact_total",
      help: "Comparisons by which a customer's access would have differed, had we answered.",
      labels: ["app", "environment"])
    settled = registry.counter(
      "switchyard_comparisons_settled_total",
      help: "Comparisons that were looked at again after the settling time, by the cause that stands.",
      labels: ["app", "environment", "cause"])
    calls = registry.counter(
      "switchyard_shadow_calls_total",
      help:
        "verifyReceipt calls that were offered for comparison, by what became of them; shed and late: no room or no time.",
      labels: ["outcome"])
    for outcome in ShadowOutcome.allCases { calls[outcome.rawValue].increment(by: 0) }
  }
}

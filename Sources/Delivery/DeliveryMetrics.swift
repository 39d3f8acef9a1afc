import Runtime

/// What delivery counts; how much waits is told by the database (`OutboxTable.depths`).
struct DeliveryMetrics: Sendable {
  let outcomes: MetricFamily<Counter>
  private let attempts: MetricFamily<Histogram>
  private let unblockedRows: MetricFamily<Counter>

  init(_ registry: MetricsRegistry) {
    outcomes = registry.counter(
      "switchyard_deliveries_total", help: "Delivery attempts, by outcome: delivered, failed, dead.",
      labels: ["outcome"])
    attempts = registry.timer(
      "switchyard_delivery_seconds", help: "One attempt, from the connection to the destination's whole answer.")
    unblockedRows = registry.counter(
      "switchyard_outbox_unblocked_total",
      help: "Messages found blocked behind nothing and sent on; above 0 while all nodes run one version is a bug.")
    unblockedRows[].increment(by: 0)
  }

  func noteAttempt(milliseconds: Int64) { attempts[].record(.milliseconds(milliseconds)) }

  /// Rows that the sweep has found blocked without a reason.
  var unblocked: Int { Int(unblockedRows[].value) }

  func noteUnblocked(_ count: Int) { unblockedRows[].increment(by: UInt64(count)) }
}

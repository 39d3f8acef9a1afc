import Runtime

/// What delivery counts; how much waits is told by the database (`OutboxTable.depths`).
struct DeliveryMetrics: Sendable {
  let outcomes: MetricFamily<Counter>
  private let attempts: MetricFamily<Histogram>

  init(_ registry: MetricsRegistry) {
    outcomes = registry.counter(
      "switchyard_deliveries_total", help: "Attempts to deliver, by what became of them: delivered, failed, dead.",
      labels: ["outcome"])
    attempts = registry.timer(
      "switchyard_delivery_seconds", help: "One attempt, from the connection to the destination's whole answer.")
  }

  func noteAttempt(milliseconds: Int64) { attempts[].record(.milliseconds(milliseconds)) }
}

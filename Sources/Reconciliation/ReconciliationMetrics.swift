import Runtime

/// What keeping up with Apple counts.
struct ReconciliationMetrics: Sendable {
  let takenIn: MetricFamily<Counter>
  let lookedUp: MetricFamily<Counter>
  let refundsAsked: MetricFamily<Counter>
  let unfinished: MetricFamily<Counter>
  let expected: MetricFamily<Gauge>
  let arrived: MetricFamily<Gauge>
  let missing: MetricFamily<Gauge>
  let heartbeatLost: MetricFamily<Gauge>

  init(_ registry: MetricsRegistry) {
    takenIn = registry.counter(
      "switchyard_reconciliation_imported_total",
      help: "Notifications that were not received and were recovered from Apple's history.",
      labels: ["app", "environment"])
    lookedUp = registry.counter(
      "switchyard_reconciliation_queried_customers_total",
      help: "Customers asked about because no notification about them was received.",
      labels: ["app", "environment"])
    refundsAsked = registry.counter(
      "switchyard_refund_sweep_customers_total", help: "Customers whose refunds Apple was asked for in the background.",
      labels: ["app", "environment"])
    unfinished = registry.counter(
      "switchyard_reconciliation_failures_total", help: "Parts of comparisons with Apple that ended early.",
      labels: ["app", "environment", "part"])
    expected = registry.gauge(
      "switchyard_notifications_expected",
      help: "Expected in the last 7 days: notifications by Apple's history, renewals by the ends of their periods.",
      labels: ["app", "environment", "measure"])
    arrived = registry.gauge(
      "switchyard_notifications_received",
      help: "Of switchyard_notifications_expected, those that Apple sent without being asked.",
      labels: ["app", "environment", "measure"])
    missing = registry.gauge(
      "switchyard_notifications_missing",
      help: "Of switchyard_notifications_expected, those that are not in the ledger.",
      labels: ["app", "environment", "measure"])
    heartbeatLost = registry.gauge(
      "switchyard_test_notification_lost", help: "1 while Apple's TEST notifications do not come back, 0 otherwise.",
      labels: ["app", "environment"])
  }
}

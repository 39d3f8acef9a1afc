package import AppStore
import Ledger
package import Runtime
import Time

/// What seeding counts.
package struct HistoryJobMetrics: Sendable {
  let calls: MetricFamily<Counter>
  let callSeconds: MetricFamily<Histogram>
  let customers: MetricFamily<Counter>
  let ids: MetricFamily<Gauge>
  let secondsLeft: MetricFamily<Gauge>
  let paused: MetricFamily<Gauge>
  let claimedLookUps: MetricFamily<Counter>
  let claimedOpen: MetricFamily<Gauge>
  let claimedOldestSeconds: MetricFamily<Gauge>
  let unverifiedOpen: MetricFamily<Gauge>
  let renewalChecks: MetricFamily<Counter>
  let renewalChecksPlanned: MetricFamily<Gauge>

  package init(_ registry: MetricsRegistry) {
    calls = registry.counter(
      "switchyard_apple_calls_total",
      help: "Attempts to ask the App Store Server API, by endpoint and by HTTP status, or why there was no answer.",
      labels: ["endpoint", "environment", "status"])
    callSeconds = registry.timer(
      "switchyard_apple_call_seconds", help: "One attempt, from the request to the whole answer.", labels: ["endpoint"])
    customers = registry.counter(
      "switchyard_history_fetches_total", help: "Customers asked about, by outcome of the lookup.",
      labels: ["app", "environment", "outcome"])
    ids = registry.gauge(
      "switchyard_history_jobs", help: "Ids by which Apple is asked, by state.",
      labels: ["app", "environment", "state"])
    secondsLeft = registry.gauge(
      "switchyard_history_jobs_remaining_seconds",
      help: "How long asking about the ids that wait will take, by the budget.",
      labels: ["app", "environment"])
    paused = registry.gauge(
      "switchyard_history_jobs_paused", help: "1 while lookups pause because of Apple or the rate limit, 0 otherwise.",
      labels: ["app", "environment"])
    claimedLookUps = registry.counter(
      "switchyard_unconfirmed_lookups_total",
      help: "Customers asked about because an unsigned message reported a change, by outcome.",
      labels: ["app", "environment", "outcome"])
    claimedOpen = registry.gauge(
      "switchyard_unconfirmed_changes",
      help: "Changes that unsigned messages reported and Apple has not answered yet.",
      labels: ["app", "environment"])
    claimedOldestSeconds = registry.gauge(
      "switchyard_unconfirmed_changes_oldest_age_seconds",
      help: "Age of the oldest reported change that Apple has not confirmed yet; 0 without one.",
      labels: ["app", "environment"])
    unverifiedOpen = registry.gauge(
      "switchyard_unverified_ids_open",
      help: "Ids that back ends handed in, nothing proves and Apple has not been asked about yet.",
      labels: ["app", "environment"])
    renewalChecks = registry.counter(
      "switchyard_renewal_checks_total",
      help: "Ended periods of subscriptions expected to renew: asked about, or known from signed data before.",
      labels: ["app", "environment", "outcome"])
    renewalChecksPlanned = registry.gauge(
      "switchyard_renewal_checks_scheduled", help: "Subscriptions that are asked about when their period ends.",
      labels: ["app", "environment"])
  }

  /// Counts an attempt.
  package func note(_ call: CallRecord) {
    let status = call.status.map { "\($0)" } ?? call.failure?.rawValue ?? "none"
    calls[call.endpoint.rawValue, call.environment.rawValue, status].increment()
    if let took = call.took { callSeconds[call.endpoint.rawValue].record(.milliseconds(took.milliseconds)) }
  }
}

extension HistoryFetch.Outcome {
  /// What it is counted as.
  var name: String {
    switch self {
    case .found: "found"
    case .empty: "empty"
    case .failed(let failure): failure.code.rawValue
    case .refused: "answerRefused"
    case .notRecorded: "notRecorded"
    }
  }
}

package import Runtime
import Wire

/// What the service counts; every name with its unit, no label with unbounded values.
package struct ServiceMetrics: Sendable {
  package let registry: MetricsRegistry
  let messages: MetricFamily<Counter>
  let refusals: MetricFamily<Counter>
  let unknowns: MetricFamily<Counter>
  let receiveSeconds: MetricFamily<Histogram>
  let verifySeconds: MetricFamily<Histogram>
  let quarantined: MetricFamily<Gauge>
  let notKept: MetricFamily<Counter>
  let receiptCalls: MetricFamily<Counter>
  let receiptAnswers: MetricFamily<Counter>
  let receiptSeconds: MetricFamily<Histogram>
  let passedThrough: MetricFamily<Counter>
  let outboxWaiting: MetricFamily<Gauge>
  let outboxOldestSeconds: MetricFamily<Gauge>
  let outboxDead: MetricFamily<Gauge>
  let unforwarded: MetricFamily<Counter>

  package init(_ registry: MetricsRegistry) {
    self.registry = registry
    messages = registry.counter(
      "switchyard_messages_total", help: "Messages received, by road and by what became of them.",
      labels: ["road", "app", "outcome"])
    refusals = registry.counter(
      "switchyard_refusals_total", help: "Messages not accepted, by reason.", labels: ["road", "reason"])
    unknowns = registry.counter(
      "switchyard_unknown_total", help: "Fields and values that this build does not know; kept as they came.",
      labels: ["what"])
    receiveSeconds = registry.timer(
      "switchyard_receive_seconds", help: "From the whole request to the answer, commit included.", labels: ["road"])
    verifySeconds = registry.timer(
      "switchyard_verify_seconds", help: "Verifying, decoding and mapping one message.", labels: ["road"])
    quarantined = registry.gauge(
      "switchyard_quarantine_messages", help: "Messages in quarantine, by source.", labels: ["source"])
    notKept = registry.counter(
      "switchyard_not_kept_total",
      help: "Refused messages that were not kept in quarantine: rate, quota or disk, by source.",
      labels: ["source", "reason"])
    receiptCalls = registry.counter(
      "switchyard_verify_receipt_calls_total",
      help: "verifyReceipt calls, by endpoint and by the status in Apple's answer, or why there was none.",
      labels: ["environment", "status"])
    receiptAnswers = registry.counter(
      "switchyard_verify_receipt_answers_total",
      help: "Answers with a receipt, by what became of them in the ledger; late: answered before the commit.",
      labels: ["outcome"])
    receiptSeconds = registry.timer(
      "switchyard_verify_receipt_seconds", help: "From the whole verifyReceipt request to its answer, Apple included.",
      labels: ["environment"])
    passedThrough = registry.counter(
      "switchyard_passed_through_total",
      help: "Notifications passed through in the stage legacy, by generation and by the old back end's status.",
      labels: ["app", "environment", "generation", "status"])
    outboxWaiting = registry.gauge(
      "switchyard_outbox_waiting_messages", help: "Messages that a destination has not taken yet.",
      labels: ["app", "environment", "destination"])
    outboxOldestSeconds = registry.gauge(
      "switchyard_outbox_oldest_age_seconds", help: "For how long the oldest of them has waited; 0 when none does.",
      labels: ["app", "environment", "destination"])
    unforwarded = registry.counter(
      "switchyard_unproven_not_forwarded_total",
      help: "Unproven messages that were quarantined and not forwarded, because too many were queued already.")
    unforwarded[].increment(by: 0)
    outboxDead = registry.gauge(
      "switchyard_outbox_dead_messages", help: "Messages that were given up, until they are replayed.",
      labels: ["app", "environment", "destination"])
  }
}

extension ServiceMetrics {
  /// Counts what a message had that this build does not know.
  func count(_ survey: Survey) {
    if survey.isClean { return }
    unknowns["field"].increment(by: UInt64(survey.unknownFields.count))
    unknowns["unusable"].increment(by: UInt64(survey.unusableFields.count))
    unknowns["value"].increment(by: UInt64(survey.unknownValues.count))
  }
}

package import Runtime
import Wire

/// The metrics of the service; every name has its unit, and no label has unbounded values.
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
  let postedReceipts: MetricFamily<Counter>
  let sharedPurchases: MetricFamily<Counter>
  let receiptSeconds: MetricFamily<Histogram>
  let answers: MetricFamily<Counter>
  let staleAnswers: MetricFamily<Counter>
  let passedThrough: MetricFamily<Counter>
  let passThroughRefused: MetricFamily<Counter>
  let outboxWaiting: MetricFamily<Gauge>
  let outboxOldestSeconds: MetricFamily<Gauge>
  let outboxDead: MetricFamily<Gauge>
  let unforwarded: MetricFamily<Counter>
  let unqueuedIDs: MetricFamily<Counter>
  let claimedStockRefused: MetricFamily<Counter>

  /// For some hundred apps; the registry's limit would move the tenth app's series to "other".
  private static let seriesOfApps = 8_192

  package init(_ registry: MetricsRegistry) {
    self.registry = registry
    let seriesOfApps = Self.seriesOfApps
    messages = registry.counter(
      "switchyard_messages_total", help: "Messages received, by path and outcome.",
      labels: ["kind", "app", "outcome"])
    refusals = registry.counter(
      "switchyard_messages_rejected_total", help: "Messages not accepted, by reason.", labels: ["kind", "reason"])
    unknowns = registry.counter(
      "switchyard_undocumented_values_total", help: "Fields and values that this build does not know; kept unchanged.",
      labels: ["what"])
    receiveSeconds = registry.timer(
      "switchyard_receive_seconds", help: "From the whole request to the answer, commit included.", labels: ["kind"])
    verifySeconds = registry.timer(
      "switchyard_verify_seconds", help: "Verifying, decoding and mapping one message.", labels: ["kind"])
    quarantined = registry.gauge(
      "switchyard_quarantine_messages", help: "Messages in quarantine, by source.", labels: ["source"])
    notKept = registry.counter(
      "switchyard_quarantine_dropped_total",
      help: "Refused messages that were not kept in quarantine: rate, quota or disk, by source.",
      labels: ["source", "reason"])
    receiptCalls = registry.counter(
      "switchyard_verify_receipt_calls_total",
      help:
        "verifyReceipt calls, by endpoint and by the status in the response, or the reason why there was no response.",
      labels: ["app", "environment", "status"], seriesLimit: seriesOfApps)
    receiptAnswers = registry.counter(
      "switchyard_verify_receipt_recorded_total",
      help:
        "Responses with a receipt, by outcome in the ledger; late: answered before the commit; repeated: equal to the previous one and not stored again for a minute.",
      labels: ["outcome"])
    sharedPurchases = registry.counter(
      "switchyard_evidence_many_users_total",
      help: "Evidence with a userId about purchases that more than six user ids were handed in with.", labels: ["app"])
    postedReceipts = registry.counter(
      "switchyard_receipts_captured_total",
      help:
        "Receipts posted to verifyReceipt while Apple was not asked, by outcome: stored, with something new; known, duplicate, rate, unproven, unknownApp, stageLegacy, overloaded, failed: only counted.",
      labels: ["outcome"])
    receiptSeconds = registry.timer(
      "switchyard_verify_receipt_seconds", help: "From the whole verifyReceipt request to its answer, Apple included.",
      labels: ["environment"])
    answers = registry.counter(
      "switchyard_verify_receipt_responses_total",
      help:
        "verifyReceipt responses, by origin: apple, ledger, lookup, receipt; status: no data was needed.",
      labels: ["app", "environment", "source"], seriesLimit: seriesOfApps)
    staleAnswers = registry.counter(
      "switchyard_verify_receipt_stale_total",
      help:
        "Requests for which the ledger's data was not fresh or not complete, by reason; noPurchases: possible lost access in the stage complete.",
      labels: ["app", "environment", "reason"], seriesLimit: seriesOfApps)
    passedThrough = registry.counter(
      "switchyard_passthrough_notifications_total",
      help: "Notifications passed through in the stage legacy, by version and by the destination's status.",
      labels: ["app", "environment", "generation", "status"])
    passThroughRefused = registry.counter(
      "switchyard_passthrough_rejected_total",
      help:
        "Notifications that were not passed through in the stage legacy: full (503, too many of the class in flight), rate (429, too many unproven ones from an address).",
      labels: ["class", "reason"])
    outboxWaiting = registry.gauge(
      "switchyard_outbox_pending_messages", help: "Messages that a destination has not taken yet.",
      labels: ["app", "environment", "destination"])
    outboxOldestSeconds = registry.gauge(
      "switchyard_outbox_oldest_age_seconds", help: "For how long the oldest of them has waited; 0 when none does.",
      labels: ["app", "environment", "destination"])
    unforwarded = registry.counter(
      "switchyard_unverified_not_forwarded_total",
      help: "Unproven messages that were quarantined and not forwarded, because too many were queued already.")
    unforwarded[].increment(by: 0)
    unqueuedIDs = registry.counter(
      "switchyard_unconfirmed_ids_dropped_total",
      help: "Ids that only unsigned messages name and about which Apple is not asked, because too many waited already.")
    unqueuedIDs[].increment(by: 0)
    claimedStockRefused = registry.counter(
      "switchyard_unconfirmed_quota_rejected_total",
      help: "Unverified V1 notifications that were answered 429, because the app's daily quota is used up.",
      labels: ["app"])
    outboxDead = registry.gauge(
      "switchyard_outbox_dead_letters", help: "Messages that were given up, until they are replayed.",
      labels: ["app", "environment", "destination"])
  }
}

extension ServiceMetrics {
  func count(_ survey: UndocumentedContent) {
    if survey.isClean { return }
    unknowns["field"].increment(by: UInt64(survey.unknownFields.count))
    unknowns["unusable"].increment(by: UInt64(survey.unusableFields.count))
    unknowns["value"].increment(by: UInt64(survey.unknownValues.count))
  }
}

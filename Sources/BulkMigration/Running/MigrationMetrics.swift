import Ledger
package import Runtime

/// What bulk migrations count, by job: the accounts as they are in the ledger.
package struct MigrationMetrics: Sendable {
  let rows: MetricFamily<Gauge>
  let ids: MetricFamily<Gauge>
  let steps: MetricFamily<Counter>

  package init(_ registry: MetricsRegistry) {
    rows = registry.gauge(
      "switchyard_migration_rows", help: "Rows of a running bulk migration, by outcome.",
      labels: ["migration", "outcome"])
    ids = registry.gauge(
      "switchyard_migration_ids", help: "Ids of a running bulk migration, by the state of their history.",
      labels: ["migration", "state"])
    steps = registry.counter(
      "switchyard_migration_steps_total", help: "Transactions of bulk migrations, by outcome.",
      labels: ["outcome"])
  }

  func note(_ accounts: MigrationCounts, of job: Int) {
    let job = "\(job)"
    for (outcome, count) in [
      ("in", accounts.rows), ("usable", accounts.usable), ("duplicates", accounts.duplicates),
      ("withoutPurchases", accounts.withoutPurchases), ("rejected", accounts.allRejected),
    ] { rows[job, outcome].record(count) }
    for (state, count) in [
      ("settled", accounts.settled), ("unknown", accounts.unknown), ("failed", accounts.failed),
      ("open", accounts.open),
    ] { ids[job, state].record(count) }
  }
}

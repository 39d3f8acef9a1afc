import Database
import Intake
import Ledger
import Runtime
import Signing

extension ServiceDependencies {
  func declareGauges(_ lookUps: PurchaseLookup, _ diskWatch: DiskSpaceMonitor?) {
    if let diskWatch {
      metrics.gauge(
        "switchyard_disk_free_bytes", help: "Bytes that may still be written where the private database is."
      ) { Double(diskWatch.free ?? 0) }
      metrics.gauge(
        "switchyard_disk_headroom_bytes",
        help:
          "Bytes that are to stay free: below it nothing unproven and no claim of a stranger's is kept, below half no claim but Apple's own, below a quarter nothing."
      ) { Double(diskWatch.headroom) }
    }
    metrics.gauge(
      "switchyard_large_lookups_queued",
      help: "Lookups of customers with hundreds of purchases that wait for a slot of this process."
    ) { Double(lookUps.waiting) }
    metrics.gauge("switchyard_commit_queue_length", help: "Messages that wait to be committed.") { [commit] in
      Double(commit.depth)
    }
    metrics.gauge(
      "switchyard_secrets_unreadable",
      help: "Shared secrets of apps that do not open under the master keys; V1 notifications with them are quarantined."
    ) { [registry] in Double(registry.directory.unopened.count) }
    metrics.gauge(
      "switchyard_distrusted_key_tables",
      help: "Tables of keys that contradicted OpenSSL since the start and are not used; above 0 is a bug, and harmless."
    ) { Double(KeyTables.distrustedInProcess) }
    metrics.gauge("switchyard_database_connections_in_use", help: "Database connections at work.") { [ledger] in
      Double(ledger.pool.figures.inUse)
    }
    metrics.gauge("switchyard_database_callers_waiting", help: "Callers that wait for a database connection.") {
      [ledger] in
      Double(ledger.pool.figures.waiting)
    }
    metrics.counter(
      "switchyard_database_retries_total",
      help: "Transactions done again since the start, after deadlocks and lost connections."
    ) { [ledger] in ledger.pool.figures.retries }
  }
}

import Database
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// Old receipts read by a bulk migration as it is deployed: `switchyard serve` with its private database carries the job out.
///
/// `--receipts` receipts (`BulkReceipts`) of three apps, in both environments and of both kinds, 2 % damaged in twelve ways and
/// 5 % twice: once from a CSV, once from a table of an old back end, which stands in the same server as the ledger. No app has a
/// key, so Apple is not asked. Measured from the start of the command until the last row is written; beside it
/// `switchyard extract`, which proves the same receipts and writes a file, everything on the same cores. The accounts must be
/// exact or nothing is measured.
enum MigrationRows {
  static let name = "migration.rows"
  private static let patience = Interval.minutes(60)

  static let benchmark = Benchmark(
    name: name, summary: "old receipts read, proven and written by a bulk migration, from a file and from a table"
  ) { settings in
    let bulk = BulkReceipts(count: settings.receipts, samples: try ReceiptSamples(), isVaried: true)
    let place = try ScratchDirectory()
    let size = try await bulk.write(to: "\(place.path)/receipts.csv", note: settings.note)
    let root = try place.write(bulk.samples.pki.root.certificate.der, to: "root.der")
    settings.note("  \(bulk.count) receipts, \(size >> 20) MB")
    let extracted = try ExtractBulk.run(bulk, ["--root", root], place, settings)
    var measurements: [Measurement] = []
    for source in ["file", "table"] {
      let service = try await start(bulk)
      let arguments = source == "file" ? ["\(place.path)/receipts.csv"] : try await table(bulk, beside: service)
      let seconds = try await read(bulk, arguments, service)
      let memory = try service.peakMemory()
      try service.stop()
      settings.note("  from a \(source): \(Figure.text(seconds)) s")
      measurements += [
        Measurement(
          name: "\(name).\(source)", value: Double(bulk.count) / seconds, unit: "receipts/s", against: extracted.rate,
          peer: "switchyard extract", target: .atLeast(0.2)),
        Measurement(name: "\(name).\(source).memory", value: memory, unit: "MB at most", target: .below(256)),
      ]
    }
    return measurements
  }

  private static func start(_ bulk: BulkReceipts) async throws -> ServedProcess {
    let service = try await ServedProcess.start(
      root: bulk.samples.pki.root.certificate.der,
      options: [
        "--trust-root", "Production", "--i-know-this-root-can-make-purchases-count", "--reconcile-every", "0",
        "--heartbeat-every", "0",
      ])
    for app in ReceiptSamples.apps { try await service.register(app) }
    return service
  }

  /// Seconds until every row is written.
  private static func read(_ bulk: BulkReceipts, _ source: [String], _ service: ServedProcess) async throws -> Double {
    let start = ContinuousClock.now
    try service.run(["migrate", "start", "--yes"] + source)
    let connection = try await Connection.open(service.database)
    var accounts = MigrationCounts()
    repeat {
      guard ContinuousClock.now - start < .milliseconds(patience.milliseconds) else {
        throw BenchmarkError("not read after \(patience): \(accounts)")
      }
      try await Task.sleep(for: .milliseconds(100))
      accounts = try await connection.read { session throws(DatabaseError) in
        try MigrationAccountTable.read(1, in: session).all
      }
    } while accounts.rows < bulk.count
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await connection.close()
    let expected = (bulk.count, bulk.usable, bulk.duplicates, bulk.rejected)
    guard (accounts.rows, accounts.usable, accounts.duplicates, accounts.allRejected) == expected, accounts.balances
    else { throw BenchmarkError("the accounts are \(accounts) instead of \(expected)") }
    return seconds
  }

  /// Puts the receipts into a table of an old back end; the arguments that name it.
  private static func table(_ bulk: BulkReceipts, beside service: ServedProcess) async throws -> [String] {
    let connection = try await Connection.open(service.database)
    try await connection.read { session throws(DatabaseError) in
      try session.run("CREATE DATABASE old_back_end")
      try session.run(
        """
        CREATE TABLE old_back_end.receipts (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, app VARCHAR(100) NOT NULL,
          user_id VARCHAR(100) NOT NULL, receipt MEDIUMTEXT NULL) DEFAULT CHARSET = ascii
        """)
    }
    for first in stride(from: 0, to: bulk.count, by: 1_000) {
      let cells = try bulk.cells(first..<min(bulk.count, first + 1_000))
      try await connection.transaction { session throws(DatabaseError) in
        for cell in cells {
          _ = try session.execute(
            """
            INSERT INTO old_back_end.receipts (app, user_id, receipt)
            VALUES (\(cell.app), \(cell.user), \(String(decoding: cell.receipt, as: UTF8.self)))
            """)
        }
      }
    }
    await connection.close()
    guard case .socket(let socket) = service.database.address else { throw BenchmarkError("no socket") }
    return [
      "--source-database", "mysql://\(service.database.user)@localhost/old_back_end?socket=\(socket)", "--table",
      "receipts",
    ]
  }
}

import Adapter
import Database
import Ledger
import Purchases
import Signing
import Simulator
import Time

/// What a notification costs the database: 32 in one transaction, and 31, against one alone.
///
/// Read by the adapter beforehand; what is timed is `LedgerStore.append` alone, into a private MariaDB that flushes its log
/// at every commit, as `serve` runs it. The clock is that of the wall, since the database is another process; the median
/// of 200 batches. Tables that get a row for each message take one statement for 32 rows, and three for 31.
enum LedgerBatch {
  private static let name = "ledger.batch"
  private static let sizes = [32, 31]
  private static let batches = 200

  static let benchmark = Benchmark(name: name, summary: "32 and 31 notifications written in one transaction") { _ in
    let samples = try NotificationSamples(seed: 4)
    let directory = try ScratchDirectory()
    let server = EmbeddedServer(directory: "\(directory.path)/database")
    do {
      let measurements = try await measure(try await server.start(), samples)
      await server.stop()
      return measurements
    } catch {
      await server.stop()
      throw error
    }
  }

  private static func measure(
    _ configuration: DatabaseConfiguration, _ samples: NotificationSamples
  ) async throws -> [Measurement] {
    let pool = Pool(configuration)
    // DDL commits by itself: no transaction could hold it.
    _ = try await pool.read { session throws(DatabaseError) in
      try Migrator().migrate(at: NotificationSamples.start, in: session)
    }
    let app = try await pool.transaction { session throws(DatabaseError) in
      try AppTable.add(
        bundleID: NotificationSamples.app.bundleID, appAppleID: nil, at: NotificationSamples.start, in: session)
    }
    let entries = try await entries(samples, app.id)
    let ledger = LedgerStore(pool: pool, keys: Keyring(current: .generate()))
    var times: [Int: [Double]] = [:]
    var rest = entries[...]
    for _ in 0..<batches {
      for size in sizes + [1] {
        let batch = Array(rest.prefix(size))
        rest = rest.dropFirst(size)
        times[size, default: []].append(try await microseconds { try await write(batch, ledger) } / Double(size))
      }
    }
    await pool.close()
    return sizes.map { size in
      Measurement(
        name: size == sizes[0] ? name : "\(name).\(size)", value: Rounds.median(times[size] ?? []),
        unit: "us/notification", against: Rounds.median(times[1] ?? []), peer: "one alone", target: .below(0.25))
    }
  }

  private static func write(_ entries: [LedgerEntry], _ ledger: LedgerStore) async throws {
    guard try await ledger.append(entries).allSatisfy({ $0 == .stored }) else {
      throw BenchmarkError("a notification was not stored")
    }
  }

  private static func entries(_ samples: NotificationSamples, _ app: App.ID) async throws -> [LedgerEntry] {
    let adapter = MessageDecoder(verifier: try samples.verifier())
    let now = NotificationSamples.start + .days(500)
    return try await samples.generate(sizes.reduce(1, +) * batches) { $0.body }.map { body in
      let message = InboxMessage(kind: .notification, body: body, receivedAt: now)
      let reading = try adapter.notification(body, message: message.digest, now: now)
      return LedgerEntry(
        message,
        .accepted(
          LedgerEntry.AcceptedMessage(
            app: app, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)),
        proof: .proven)
    }
  }

  private static func microseconds(_ work: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await work()
    let elapsed = (ContinuousClock.now - start).components
    return Double(elapsed.seconds) * 1e6 + Double(elapsed.attoseconds) / 1e12
  }
}

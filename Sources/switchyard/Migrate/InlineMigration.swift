import AppStore
import BulkMigration
import Database
import Intake
import Ledger
import Runtime
import Seeding
import Service
import Signing
import Synchronization
import Time

/// Runs a job in one process without a service: reads its sources, and asks Apple.
struct InlineMigration {
  static let options = AppleClient.options + TrustOptions.options + MasterKeyOptions.options

  private let arguments: ParsedArguments
  private let database: DatabaseOptions
  private let trust: TrustOptions
  private let hosts: AppStoreHosts?
  private static let pause = Interval.milliseconds(250)

  init(_ arguments: ParsedArguments, _ database: DatabaseOptions) throws {
    self.arguments = arguments
    self.database = database
    trust = try TrustOptions(arguments)
    hosts = try AppleClient.hosts(arguments)
  }

  /// Runs until the job has ended, or the rest must wait.
  func run(_ job: Int, on configuration: DatabaseConfiguration, _ terminal: Terminal) async throws -> ExitStatus {
    let connection = try await Connection.open(configuration)
    let keys = try await MasterKeyOptions(arguments, database: database).keys(for: connection, terminal)
    await connection.close()
    let pool = Pool(configuration)
    let (ledger, intake) = (LedgerStore(pool: pool, keys: keys), IngestDecider(adapter: trust.adapter))
    let logger = Logger(
      label: "switchyard", level: .warning, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let directory: @Sendable () async throws -> AppRegistrySnapshot = {
      try await pool.read { session throws(DatabaseError) in try AppTable.directory(with: keys, in: session) }
    }
    let known = Mutex(try await directory())
    let means = MigrationService.Dependencies(
      ledger: ledger, intake: intake, keys: keys,
      directory: {
        if let fresh = try? await directory() { known.withLock { $0 = fresh } }
        return known.withLock { $0 }
      })
    var settings = MigrationService.Settings()
    settings.job = job
    settings.window = 2 * Processors.count
    settings.flagFiles = [database.migrationFlag]
    let service = MigrationService(
      means, settings: settings, metrics: MigrationMetrics(MetricsRegistry()), clock: .system, logger: logger)
    let asking = AppleClient(hosts, sharing: pool)
    let seeding = asking.seeding(intake, keys, ledger, terminal)
    let record = try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await service.run() }
      group.addTask { try await seeding.run() }
      let record = try await end(of: job, pool)
      group.cancelAll()
      while try await group.next() != nil {}
      return record
    }
    await asking.end()
    await pool.close()
    terminal.note("migration \(job) is \(record.state.name)\n\(MigrationText.rows(record.accounts))")
    terminal.note(MigrationText.ids(record.accounts))
    guard record.state == .done else { return record.state == .running ? .stopped : .failed }
    return record.accounts.allRejected == 0 ? .done : .doneWithRejects
  }

  private func end(
    of job: Int, _ pool: Pool
  ) async throws -> (state: MigrationJob.State, accounts: MigrationCounts) {
    while true {
      let (state, accounts, isWaiting) = try await pool.read { session throws(DatabaseError) in
        let state = try MigrationJobTable.find(job, in: session)?.state ?? .cancelled
        let (accounts, places) = try MigrationAccountTable.read(job, in: session)
        let keyed = try CredentialTable.apps(with: .apiKey, in: session)
        let isAskable = places.contains { place, accounts in
          accounts.open > 0 && place.app.map { keyed.contains($0) } ?? false
        }
        let isRead = try !MigrationPartTable.hasOpen(job, in: session)
        return (state, accounts, isRead && !isAskable && accounts.open > 0)
      }
      if state != .running || isWaiting || Task.isCancelled { return (state, accounts) }
      try? await Task.sleep(for: .milliseconds(Self.pause.milliseconds))
    }
  }
}

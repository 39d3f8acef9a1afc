package import Database
package import Intake
package import Ledger
package import Runtime
package import Signing
import Synchronization
package import Time

/// Carries out bulk migrations: reads their sources, and hands out their ids to be asked about.
///
/// Any number of processes may run it on one ledger. One that is killed leaves leases that end within seconds, and what it
/// had committed stays; nothing that it had not committed counts.
package final class MigrationService: Service {
  package struct Settings: Sendable {
    /// Much longer than a step takes; a part whose process was killed waits so long.
    package var lease = Interval.seconds(10)
    package var renewedEvery = Interval.seconds(3)
    /// How often it is looked whether there is something to do.
    package var pause = Interval.seconds(1)
    /// How often ids are handed out.
    package var turns = Interval.milliseconds(500)
    /// Blocks of half a megabyte that are judged at once; a service leaves cores to its requests.
    package var window = 3
    /// This job alone; nil: every one.
    package var job: Int?
    /// While one of these files is there, nothing goes on.
    package var flagFiles: [String] = []

    package init() {}
  }

  /// What it works with.
  package struct Dependencies: Sendable {
    let ledger: LedgerStore
    let intake: IngestDecider
    let keys: Keyring
    let directory: @Sendable () async -> AppRegistrySnapshot
    /// Told of the entries of each commit, whatever became of them.
    let written: @Sendable ([LedgerEntry]) -> Void
    let disk: @Sendable () -> DiskSpaceLevel

    package init(
      ledger: LedgerStore, intake: IngestDecider, keys: Keyring,
      directory: @escaping @Sendable () async -> AppRegistrySnapshot,
      written: @escaping @Sendable ([LedgerEntry]) -> Void = { _ in },
      disk: @escaping @Sendable () -> DiskSpaceLevel = { .ample }
    ) {
      self.ledger = ledger
      self.intake = intake
      self.keys = keys
      self.directory = directory
      self.written = written
      self.disk = disk
    }
  }

  let means: Dependencies
  let settings: Settings
  let metrics: MigrationMetrics
  let clock: WallClock
  let pacing: TimeSource
  let logger: Logger
  private let manned = Mutex<Set<Int>>([])

  var pool: Pool { means.ledger.pool }

  package init(
    _ means: Dependencies, settings: Settings = Settings(), metrics: MigrationMetrics, clock: WallClock,
    pacing: TimeSource = .system, logger: Logger
  ) {
    self.means = means
    self.settings = settings
    self.metrics = metrics
    self.clock = clock
    self.pacing = pacing
    self.logger = logger
  }

  /// Works until cancelled; then commits what is under way and gives back what it leased.
  package func run() async throws {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        do {
          for job in try await running() where manned.withLock({ $0.insert(job.id).inserted }) {
            group.addTask {
              await MigrationWorker(job, self).run()
              self.manned.withLock { _ = $0.remove(job.id) }
            }
          }
        } catch {
          if !Task.isCancelled {
            logger.warning("migrations could not be read; it is tried again", metadata: ["error": "\(error)"])
          }
        }
        try? await pacing.sleep(settings.pause)
      }
      group.cancelAll()
    }
  }

  private func running() async throws(DatabaseError) -> [MigrationJob] {
    try await pool.read { session throws(DatabaseError) in try MigrationJobTable.all([.running], in: session) }
      .filter { settings.job == nil || settings.job == $0.id }
  }

  /// Whether an operator holds everything up by a file.
  var isFlagged: Bool { settings.flagFiles.contains { FileMetadata($0) != nil } }
}

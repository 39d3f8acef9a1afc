import AppStore
import Database
import HTTPClient
import Intake
import Ledger
import Operations
import Purchases
import Reconciliation
import Rollout
import Runtime
import Seeding
import Service
import Signing
import Time

/// A client of Apple for registered apps, with the keys that are sealed in the ledger.
struct AppleClient {
  static let options: [Option] = [
    .value(
      "base-url", "URL", environment: "SWITCHYARD_BASE_URL",
      "Another App Store Server API than Apple's: a simulator's, its sandbox below /sandbox.")
  ]

  let client: AppStoreClient

  /// - Parameters:
  ///   - hosts: nil: Apple's.
  ///   - pool: of the ledger in which the budget is shared with every other process.
  init(_ hosts: AppStoreHosts?, sharing pool: Pool) {
    let timing = CallTimeSource(clock: .system)
    let gate = RateLimiter(
      store: DatabaseRateLimitStore(pool: pool), timing: timing,
      bounds: { hosts == nil ? .documented($0) : .unknown($0) })
    client = AppStoreClient(http: HTTPClient(), hosts: hosts ?? .apple, gate: gate, timing: timing)
  }

  /// Returns the hosts of `--base-url`; `nil` means Apple's.
  static func hosts(_ arguments: ParsedArguments) throws(UsageError) -> AppStoreHosts? {
    guard let base = arguments.value("base-url") else { return nil }
    let isURL = ["http://", "https://"].contains { base.hasPrefix($0) && base.count > $0.count }
    guard isURL, !["/sandbox", "/sandbox/"].contains(where: base.hasSuffix) else {
      throw UsageError(
        .invalidValue, "--base-url is http://HOST:PORT or https://HOST: the sandbox is looked for below it.",
        path: arguments.path)
    }
    return AppStoreHosts(simulator: base)
  }

  func end() async { await client.end() }

  /// Looks up customers like a running service, in this process.
  func seeding(_ intake: IngestDecider, _ keys: Keyring, _ ledger: LedgerStore, _ terminal: Terminal)
    -> HistoryJobWorker
  {
    let logger = Logger(
      label: "switchyard", level: .notice, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    let answers = APIResponseRecorder(intake: intake, clock: .system, logger: logger) { entry in
      try await ledger.append([entry]).first ?? .stored
    }
    var settings = HistoryJobWorker.Settings()
    // Every response is a separate commit here: higher concurrency would only add waits.
    settings.concurrency = 64
    // Less than a command has for its stop.
    settings.grace = .milliseconds(2_500)
    settings.processName = ProcessEnvironment.name
    return HistoryJobWorker(
      pool: ledger.pool, client: client, read: { answers.read($0, $1, $2) },
      access: {
        try await ledger.pool.read { session throws(DatabaseError) in try AppWithAPIKey.seeding(with: keys, in: session)
        }
      }, settings: settings, metrics: HistoryJobMetrics(MetricsRegistry()), clock: .system, logger: logger)
  }

  /// Returns the apps and environments to ask: every app with a key or the named one, in the selected environments.
  static func places(
    app bundleID: String?, _ environment: Environment?, _ keys: Keyring, _ connection: Connection
  ) async throws -> [ReconciliationTarget] {
    let (found, flags) = try await connection.read { session throws(DatabaseError) in
      (try AppWithAPIKey.all(with: keys, in: session), try StageTable.all(in: session))
    }
    if let bundleID {
      let app = try await AppRecord.find(bundleID, connection).app
      if !found.askable.contains(where: { $0.app == app }) {
        throw NoAPIKey(bundleID: bundleID, reason: found.unusable.first { $0.app == app.id }?.reason)
      }
    }
    return found.askable.filter { bundleID == nil || $0.app.bundleID == bundleID }.flatMap { askable in
      [Environment.production, .sandbox].filter { environment == nil || environment == $0 }.compactMap {
        ReconciliationTarget(askable, $0)
      }
    }.filter { flags[$0.scope]?.stage.notifications == .record }
  }
}

/// No API key exists for this app, or for any app.
struct NoAPIKey: ExitStatusError, CustomStringConvertible {
  /// `nil` if no app was named and no app has a key.
  let bundleID: String?
  let reason: String?

  var exitStatus: ExitStatus { .failed }
  var description: String {
    let why = reason.map { "its key does not open (\($0))" } ?? "no key is registered"
    return "Apple cannot be asked about \(bundleID ?? "any app"): \(why); "
      + "`switchyard app add \(bundleID ?? "APP") --key-file FILE --key-id ID --issuer ID`"
  }
}

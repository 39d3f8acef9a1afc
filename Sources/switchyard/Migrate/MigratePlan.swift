import AppStore
import BulkMigration
import Database
import Intake
import JSON
import Ledger
import Operations
import Purchases
import Runtime
import Seeding
import Signing
import Time

/// `switchyard migrate plan`: the expected result of a job.
enum MigratePlan {
  static let command = Command(
    "plan", "Say what a job would read, ask and take, and write nothing but the plan.",
    discussion: """
      The sources are read as the job reads them, and every receipt is proven. --out keeps the plan, which `migrate apply` \
      begins. The duration by Apple's limits is shown by app, with the limiting endpoint.

      Exit status: 4 when every row was read and rejected, and then --out keeps nothing. A note says when every row of a \
      --sample was rejected.
      """,
    whenStopped: "Nothing was written.",
    examples: [
      Command.Example("switchyard migrate plan receipts.csv.gz"),
      Command.Example("switchyard migrate plan receipts.csv.gz --out plan.json"),
      Command.Example(
        "switchyard migrate plan --source-database mysql://reader@old/shop --table receipts --rows 2000"),
    ],
    options: [
      .value("app", "APP", "The app of all rows; without it each row names its app."),
      .value("environment", "NAME", "Production or Sandbox, for rows that do not name it."),
      .value("sample", "N", "The largest number of rows to read."),
      .value("out", "PATH", "Keep the plan in this file."), JSONOutput.option,
    ] + MigrateSources.options + MigrateResume.limits + TrustOptions.options + MasterKeyOptions.options,
    arguments: [Positional("SOURCE", count: .any, "Files and folders, or - for stdin.")]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    let sources = try MigrateSources(arguments, options)
    let environment = try EnvironmentOption.environment(arguments)
    let settings = try MigrateResume.settings(arguments)
    let sample = try arguments.integer("sample", in: 1...1_000_000_000)
    let trust = try TrustOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      var isSourceNeeded = false
      defer { if !isSourceNeeded { sources.spooled.remove() } }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let (parts, names) = try await sources.parts { keys }
      let columns = try await SourceCheck.columns(of: parts, named: names) { keys }
      if let text = try await HeaderCheck(parts).text { terminal.note(text) }
      let starting = try await StartMigration(parts, of: arguments.value("app"), in: environment).plan(on: connection)
      let directory = try await connection.read { session throws(DatabaseError) in
        try AppTable.directory(with: keys, in: session)
      }
      let now = WallClock.system.now()
      let judge = RowClassifier(
        intake: IngestDecider(adapter: trust.adapter), directory: directory,
        claims: RowClassifier.JobDefaults(app: starting.app, environment: environment, receivedAt: now))
      let estimate = try await MigrationEstimate.make(
        of: parts, by: judge, keys, rows: sample, perSecond: settings.rowsPerSecond)
      var places: [MigrationPlan.Place] = []
      for (place, figures) in estimate.places {
        guard let app = directory.apps.first(where: { $0.id == place.app }) else { continue }
        places.append(
          try await MigratePlan.place(
            app, place.environment, figures, settings, ledger: connection, at: now))
      }
      places.sort { ($0.app, $0.environment) < ($1.app, $1.environment) }
      let plan = MigrationPlan(
        parts: parts, bundleID: starting.app?.bundleID, environment: environment, settings: settings,
        columns: columns, estimate: estimate, places: places,
        warnings: starting.warnings
          + (estimate.crowd.count > 0
            ? [.crowdedUsers(estimate.crowd.count, largest: estimate.crowd.largest)] : []))
      // A plan whose every row was rejected is not stored. Any other may be applied later, so its copy of stdin stays,
      // even if the output below cannot be written.
      isSourceNeeded = !plan.isUseless && (arguments.wantsJSON || arguments.value("out") != nil)
      if !plan.isUseless, let path = arguments.value("out") { try OutputFile(path).write(plan.json.encoded() + [0x0A]) }
      if arguments.wantsJSON { try terminal.write(plan.json) } else { try terminal.write(plan.text(for: terminal)) }
      if plan.isUseless {
        terminal.note("every row was rejected: the job would change nothing, and no plan was kept")
        return .refused
      }
      if plan.rejectsAll {
        let rows = estimate.accounts.rows
        terminal.note("every row of the sample was rejected (\(rows) rows). Leave out --sample to read the others.")
      }
      return .done
    }
  }

  private static func place(
    _ app: App, _ environment: Environment?, _ figures: MigrationEstimate.Figures, _ settings: MigrationSettings,
    ledger connection: Connection, at now: Timestamp
  ) async throws -> MigrationPlan.Place {
    let key = RateLimitKey(
      app: app.bundleID, endpoint: .getTransactionHistory, environment: environment == .sandbox ? .sandbox : .production
    )
    let learned = try await connection.read { session throws(DatabaseError) in
      try DatabaseRateLimitStore.learned(key, at: now, in: session)
    }
    let forecast = RateLimiterState(bounds: .documented(key), learned: learned).forecast(
      calls: figures.lookUps, now: now)
    if let calls = settings.callsPerSecond, Double(calls) < forecast.perSecond {
      return MigrationPlan.Place(
        app: app.bundleID, environment: environment?.rawValue ?? "", figures: figures,
        seconds: Int64(figures.lookUps / max(1, calls)), perSecond: Double(calls),
        cause: "--customers-per-second \(calls)")
    }
    return MigrationPlan.Place(
      app: app.bundleID, environment: environment?.rawValue ?? "", figures: figures,
      seconds: forecast.length.milliseconds / 1_000, perSecond: forecast.perSecond,
      cause: "Apple's limit (\(forecast.cause.rawValue))")
  }
}

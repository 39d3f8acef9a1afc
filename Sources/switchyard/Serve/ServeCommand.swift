import BulkMigration
import Database
import JSON
import Runtime
import Service
import Time

/// `switchyard serve`: runs the service until it is stopped.
enum ServeCommand {
  static let command = Command(
    "serve", "Receive notifications and submissions, answer lookups.",
    discussion: """
      Without --database it uses the private MariaDB in --data-dir, which runs as long as any process uses it. When it \
      listens, one line of JSON on stdout says where; everything else is log lines on stderr. SIGTERM or Ctrl-C lets \
      running requests finish, releases leases and ends with exit status 0, also while it starts; a second one \
      ends it immediately.
      """,
    examples: [
      Command.Example("switchyard serve", "a private database, on port 8080 of this machine"),
      Command.Example(
        "switchyard serve --listen [::]:443 --tls-certificate-file chain.pem --tls-key-file key.pem --allow-from apple"),
      Command.Example(
        "switchyard serve --trust-root simulator.der --trust-root receipt-root.der",
        "against a simulated App Store"),
      Command.Example("SWITCHYARD_DATABASE=mysql://switchyard@db.internal/switchyard switchyard serve"),
    ],
    options: ServeOptions.options + AppleSyncOptions.options + DatabaseOptions.options + [DiskHeadroom.option]
      + MasterKeyOptions.options
      + TrustOptions.options
  ) { arguments, terminal in
    let options = try ServeOptions(arguments)
    let trust = try TrustOptions(arguments)
    let appStore = try AppleSyncOptions.settings(arguments, trust)
    let logger = Logger(
      label: "switchyard", level: options.logLevel,
      handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    trust.warn(logger)
    options.warn(logger)
    let database = try DatabaseOptions(arguments)
    let disk = try DiskHeadroom.settings(arguments, database)
    let started = try await ServiceGroup.start(logger: logger, gracePeriod: gracePeriod) {
      var settings = options.settings
      settings.appStore = appStore
      settings.disk = disk
      settings.migration.flagFiles = [database.migrationFlag]
      return try await RunningInstallation.start(
        settings, database: database,
        key: MasterKeyOptions(arguments, database: database),
        adapter: trust.adapter(revocations: options.settings.revocations), logger: logger)
    }
    guard let running = started else { return .done }
    _ = try await ServiceGroup(services: running.services, logger: logger, gracePeriod: gracePeriod).run {
      try terminal.write(running.greeting)
    }
    return .done
  }

  private static let gracePeriod = Interval.seconds(25)
}

import AppStore
import Database
import Intake
import JSON
import Ledger
import Purchases
import Reconciliation
import Runtime
import Service
import Signing
import Time

/// `switchyard reconcile`: finds and ingests Apple's data that is missing here.
enum ReconcileCommand {
  static let command = Command(
    "reconcile", "Compare the ledger with Apple, and ingest missing notifications.",
    discussion: """
      Apple's notification history (180 days) is compared with the inbox; then Apple is asked about customers \
      whose subscription should have renewed and have no later notification. `serve` does the same every \
      day. It may be stopped at any time, and a second run changes nothing. Notifications that the app's \
      destination has already accepted are not forwarded to it again. QUARANTINED counts notifications of \
      Apple's history that are in quarantine, also those of earlier runs. Exit status: 0 when all is known, 3 \
      when something is left (in quarantine, or in a dry run to be ingested), 7 when Apple or the rate limit \
      says later, 1 when nothing could be asked.

      --last does not ask Apple, and shows the last measurement of each day. notifications: those that Apple's \
      history lists as sent. renewals: ends of periods at which a renewal, or the reason against one, had to \
      come; this is an expectation, and the only measure of Notifications V1. RECOVERED came through Apple's \
      history or a lookup. Exit status: 0 when nothing is missing, 3 when something is.
      """,
    whenStopped: "Received data is stored. Run the same command again to continue.",
    examples: [
      Command.Example("switchyard reconcile com.example.app --dry-run", "what is missing?"),
      Command.Example("switchyard reconcile --since 3d", "after an outage"),
      Command.Example("switchyard reconcile com.example.app --quiet 0", "ask about every customer"),
      Command.Example("switchyard reconcile --last --since 30d", "how complete is each day?"),
    ],
    options: [
      EnvironmentOption.option,
      .flag("last", "Do not ask Apple; show the last measurement of each day."),
      .value(
        "since", "TIME",
        "Compare this much of the past, at most and by default 180d; with --last show it, by default 7d."),
      .flag("only-failures", "Only notifications that no server took: quicker, and measures nothing."),
      .value("quiet", "TIME", "Ask also about every customer without news for this long; 0: about all."),
      .value("look-ups", "N", default: "10000", "Customers asked about at most."),
      .flag("dry-run", "Say what is missing and change nothing."), JSONOutput.option,
    ] + AppleClient.options + TrustOptions.options + MasterKeyOptions.options + DatabaseOptions.options,
    arguments: [Positional("APP", count: .optional, "Only this app.")]
  ) { arguments, terminal in
    let options = try DatabaseOptions(arguments)
    if arguments.flag("last") { return try await LastReconciliation.show(arguments, options, terminal) }
    let trust = try TrustOptions(arguments)
    let environment = try EnvironmentOption.environment(arguments)
    let plan = try plan(arguments)
    let hosts = try AppleClient.hosts(arguments)
    return try await options.withDatabase(terminal) { configuration in
      let connection = try await Connection.open(configuration)
      try await options.prepare(connection)
      let hasSealed = try await connection.read { session throws(DatabaseError) in
        try CredentialTable.hasAny(in: session)
      }
      guard hasSealed else { throw NoAPIKey(bundleID: arguments.positionals.first, reason: nil) }
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let places = try await AppleClient.places(
        app: arguments.positionals.first, environment, keys, connection)
      let pool = Pool(configuration)
      let asking = AppleClient(hosts, sharing: pool)
      let (ledger, intake) = (LedgerStore(pool: pool, keys: keys), IngestDecider(adapter: trust.adapter))
      let reconciler = Reconciler(
        client: asking.client, verifier: SignedDataVerifier(roots: trust.roots), intake: intake, ledger: ledger,
        seeding: asking.seeding(intake, keys, ledger, terminal),
        directory: {
          try await pool.read { session throws(DatabaseError) in try AppTable.directory(with: keys, in: session) }
        }, record: { try await ledger.append($0) }, clock: .system)
      var outcomes: [ReconciliationResult] = []
      for place in places where !Task.isCancelled {
        let outcome = await ReconciliationResult(place, reconciler, plan)
        outcomes.append(outcome)
        if arguments.wantsJSON { try terminal.write(outcome.json(isDry: plan.isDry)) }
      }
      await asking.end()
      await pool.close()
      await connection.close()
      if !arguments.wantsJSON {
        try terminal.write(ReconciliationResult.table(outcomes, isDry: plan.isDry).render(for: terminal))
      }
      for note in outcomes.flatMap(\.notes) { terminal.note(note) }
      if outcomes.count < places.count {
        terminal.note("\(places.count - outcomes.count) of \(places.count) apps and environments were not compared")
      }
      if plan.isDry { terminal.note("dry run: nothing was changed") }
      if places.isEmpty { terminal.note("no app in record has a key of the App Store Server API: nothing was asked") }
      return status(outcomes, isDry: plan.isDry)
    }
  }

  private static func plan(_ arguments: ParsedArguments) throws(UsageError) -> Reconciler.Plan {
    var plan = Reconciler.Plan()
    let since = try arguments.duration("since", in: .seconds(0)...(.days(180))) ?? .days(180)
    if since < .days(180) { plan.since = WallClock.system.now() - since }
    plan.onlyFailures = arguments.flag("only-failures")
    plan.quiet = try arguments.duration("quiet", in: .seconds(0)...(.days(3_650)))
    plan.lookUps = try arguments.integer("look-ups", in: 0...10_000_000) ?? plan.lookUps
    plan.isDry = arguments.flag("dry-run")
    return plan
  }

  private static func status(_ outcomes: [ReconciliationResult], isDry: Bool) -> ExitStatus {
    let failed = outcomes.filter { !$0.failures.isEmpty }
    if failed.contains(where: { $0.failures.contains(where: \.saysLater) }) { return .externalLimit }
    if failed.count == outcomes.count { return .failed }
    // A dry run leaves the missing data.
    let isWhole = outcomes.allSatisfy { $0.isComplete && !(isDry && ($0.report?.takenIn ?? 0) > 0) }
    return isWhole ? .done : .doneWithRejects
  }
}

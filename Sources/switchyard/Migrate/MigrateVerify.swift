import Adapter
import Answering
import AppStore
import Database
import JSON
import Ledger
import Operations
import Purchases
import Rollout
import Runtime
import Seeding
import Shadow
import Signing
import Time

/// `switchyard migrate verify`: compares Switchyard's responses with Apple's, for customers of a job.
///
/// Keys and exit statuses are stable.
enum MigrateVerify {
  static let command = Command(
    "verify", "Compare Switchyard's answers with Apple's for a random sample of a job's receipts.",
    discussion: """
      Apple's verifyReceipt is asked about as many customers as it takes to say, at 95 % confidence, that at most \
      --max-impact of them would have different access by Switchyard's answers; about all of them where the job brought fewer. \
      Run it when the job is done: customers without a known history are not counted, and more than 5 percent of them prove \
      nothing. The app is in record or shadow, and its clients still get Apple's answers. Each comparison is kept as those \
      of shadow are (`switchyard compare list`), and counts as evidence for `switchyard rollout advance`; differences are looked \
      at again after ten minutes, by `serve`. iOS 6 receipts with an unknown environment are not sampled. --dry-run ends with 4 \
      where nothing of an app would be compared. Exit status: 0 proven, 1 the database failed, 4 too few customers were \
      compared, or nothing of an app, 5 the limit is not proven: some customers would have different access, 7 Apple does not \
      answer. `cause` of --json says what kept the most receipts from being compared.
      """,
    whenStopped: "Finished comparisons are kept, and count.",
    examples: [
      Command.Example("switchyard migrate verify 1 --dry-run", "how many calls would it make?"),
      Command.Example("switchyard migrate verify 1"),
      Command.Example(
        "switchyard migrate verify 1 --app com.example.app --environment Production --max-impact 0.1 --json"),
    ],
    options: [
      .value("app", "APP", "Only this app."), EnvironmentOption.option,
      .value(
        "max-impact", "PERCENT", default: "0.5", "The rate of customers with an impact that must not be exceeded."),
      .value(
        "receipts-per-second", "N", default: "5", "Receipts about which Apple is asked in a second at most, 1 to 50."),
      .flag("dry-run", "Say what would be asked and ask nothing."), JSONOutput.option,
    ] + AppleClient.options + TrustOptions.options + MasterKeyOptions.options,
    arguments: [MigrateCommand.job]
  ) { arguments, terminal in
    let verify = VerifyMigration(
      try MigrateCommand.number(arguments), of: arguments.value("app"),
      in: try EnvironmentOption.environment(arguments), mostImpact: try RolloutAdvance.impactBound(arguments))
    let calls = try arguments.integer("receipts-per-second", in: 1...50) ?? 5
    let trust = try TrustOptions(arguments)
    let hosts = try AppleClient.hosts(arguments)
    let options = try DatabaseOptions(arguments)
    return try await options.withLedger(terminal) { connection in
      let keys = try await MasterKeyOptions(arguments, database: options).keys(for: connection, terminal)
      let plan = try await verify.plan(with: keys, on: connection)
      let report = VerifyReport(verify, plan, arguments, terminal)
      try report.tell(calls: calls)
      var statuses: [ExitStatus] = plan.places.contains { $0.obstacle != nil } || plan.places.isEmpty ? [.refused] : []
      guard !arguments.flag("dry-run") else { return statuses.first ?? .done }
      let pool = Pool(connection.configuration)
      let asking = AppleClient(hosts, sharing: pool)
      let shadow = try await shadow(pool, keys, trust, connection, terminal)
      for place in plan.places where place.obstacle == nil {
        let proof = try await verify.verify(
          place, of: plan.job, by: .ofCommand(), every: .seconds(1) / calls, asking: asking.verifyReceipt, with: shadow,
          keys,
          on: connection, at: .system
        ) { proof in
          if proof.asked % 100 == 0 { terminal.note("\(place.name): \(proof.text)") }
        }
        try report.tell(proof, of: place)
        statuses.append(proof.exitStatus)
      }
      await asking.end()
      await pool.close()
      return [.differences, .failed, .externalLimit, .refused].first(where: statuses.contains) ?? .done
    }
  }

  /// Composes and compares in this process like a service.
  private static func shadow(
    _ pool: Pool, _ keys: Keyring, _ trust: TrustOptions, _ connection: Connection, _ terminal: Terminal
  ) async throws -> ShadowComparer {
    let directory = try await connection.read { session throws(DatabaseError) in
      try AppTable.directory(with: keys, in: session)
    }
    let answering = VerifyReceiptResponder(
      pool: pool, directory: VerifyReceiptResponder.Directory(current: { directory }, refreshed: { directory }),
      reader: trust.adapter.receipts, memory: ResponseCache(kept: .milliseconds(0)), clock: .system
    ) { _, _, _, _ in nil }
    let logger = Logger(
      label: "switchyard", level: .error, handler: StreamLogHandler(clock: .system, format: terminal.logFormat))
    // Its times are not a service's, so they are never written.
    let times = ResponseTimes(
      pool: pool, every: .seconds(3_600), stageSetAt: { _ in nil }, clock: .system, logger: logger)
    return ShadowComparer(
      answering: answering, pool: pool, keys: keys, times: times, metrics: MetricsRegistry(), disk: { .ample },
      clock: .system, logger: logger)
  }
}

extension MigrationVerification {
  fileprivate var exitStatus: ExitStatus {
    switch verdict {
    case .proven: .done
    case .affected: .differences
    case .wrongSecret: .refused
    case .tooFew, .incomplete:
      switch cause {
      case .unanswered: .externalLimit
      case .failed: .failed
      case .unproven, .incomplete, .otherEnvironment, nil: .refused
      }
    }
  }
}

extension AppleClient {
  /// Asks Apple's verifyReceipt; `nil` if the receipt belongs to the other environment.
  fileprivate var verifyReceipt: VerifyMigration.Ask {
    { [client] receipt, password, place in
      guard let environment = APIEnvironment(place.environment) else { return nil }
      let answer = try await client.verifyReceipt(
        ReceiptRequest(receiptData: receipt, password: password), app: place.app.bundleID,
        along: EnvironmentSearch(known: environment))
      return answer.environment == environment
        ? VerifyMigration.Answer(answer.json, bytes: answer.body.count) : nil
    }
  }
}

import Database
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// Apple's histories fetched, verified and stored by the service as it is deployed: `switchyard serve`, its private
/// database with a flush at every commit, and beside them on the same cores a server that gives out finished answers.
///
/// Before the measurement customers' ids arrive, three linked ones each; with the app's key, which is registered then,
/// the look-ups begin. Nobody limits the rate, and that is known from the beginning. Two shapes, for half of `--seconds`
/// each at the speed that is the target: customers of 100 transactions (five pages of history and one call for the
/// statuses), and customers of five (one page, one call for the statuses). Measured from the first answer to the last
/// settled row. At the end every transaction id of the simulated world must be in the ledger, every row of work done, no
/// customer asked about twice, and as many calls answered as there are pages and statuses.
enum SeedingHistory {
  static let name = "seeding.history"
  /// What is to be reached a second.
  private static let transactions = 10_000
  private static let customers = 700
  /// Longer is no better, and the answers are to fit in memory.
  private static let longest = 20
  private static let patience = Interval.minutes(15)

  static let benchmark = Benchmark(
    name: name, summary: "Apple's histories fetched, verified and stored by the service"
  ) { settings in
    let seconds = min(max(1, settings.seconds / 2), longest)
    let world = try HistoryWorld(
      hundred: seconds * transactions / HistoryShape.hundred.transactions, five: seconds * customers)
    let directory = try ScratchDirectory()
    let file = "\(directory.path)/answers"
    var writer = try FinishedAnswers.Writer(file)
    let jws = try await world.answers(world.hundred, to: &writer)
    _ = try await world.answers(world.five, to: &writer)
    settings.note("  \(world.hundred.count + world.five.count) customers' answers signed")
    let apple = try FinishedAnswers.Server(file)
    let service = try await ServedProcess.start(
      root: world.root,
      options: ["--base-url", apple.url, "--reconcile-every", "0", "--heartbeat-every", "0", "--ocsp", "off"])
    let pool = Pool(service.database)
    var parts: [Part] = []
    for customers in [world.hundred, world.five] {
      let part = try await measure(customers, world, service, apple, pool)
      settings.note("  \(customers.shape.name): \(customers.count) customers in \(Figure.text(part.seconds)) s")
      parts.append(part)
    }
    await pool.close()
    let memory = try service.peakMemory()
    try service.stop()
    let calls = try apple.stop()
    let due = [world.hundred, world.five].reduce(0) { $0 + $1.count * $1.shape.calls }
    let bare = try BareVerification(signed: jws, leaf: world.leaf)
    let verification = try Rounds(count: 10).medians({ try bare.run() }, {}).a / Double(jws.count) / 1_000
    return parts[0].measurements("\(name).transactions", parts[0].transactions, .atLeast(Double(transactions)))
      + parts[1].measurements("\(name).customers", parts[1].customers, .atLeast(Double(customers))) + [
        Measurement(name: "\(name).cpu.bare-verification", value: verification, unit: "us/transaction"),
        Measurement(
          name: "\(name).lost", value: Double(parts.reduce(0) { $0 + $1.lost }),
          unit: "of \(parts.reduce(0) { $0 + $1.transactions }) transactions", target: .below(1)),
        Measurement(
          name: "\(name).unsettled", value: Double(parts.reduce(0) { $0 + $1.unsettled }), unit: "ids",
          target: .below(1)),
        Measurement(
          name: "\(name).again", value: Double(abs(calls.known - due) + calls.unknown), unit: "calls beside \(due)",
          target: .below(1)),
        Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
      ]
  }

  /// How it went with the customers of one shape.
  struct Part {
    let customers: Int
    let transactions: Int
    let seconds: Double
    let lost: Int
    let unsettled: Int
    /// Seconds on a core.
    let service: Double
    let database: Double
    let apple: Double

    func measurements(_ name: String, _ count: Int, _ target: Measurement.Target) -> [Measurement] {
      func each(_ part: String, _ seconds: Double) -> Measurement {
        Measurement(
          name: "\(name).cpu.\(part)", value: seconds * 1e6 / Double(transactions), unit: "us/transaction")
      }
      let unit = count == customers ? "customers/s" : "transactions/s"
      return [
        Measurement(name: name, value: Double(count) / seconds, unit: unit, target: target),
        each("service", service), each("database", database), each("simulator", apple),
      ]
    }
  }

  /// Lets the ids of these customers arrive, and waits until all of them have been asked about.
  static func measure(
    _ customers: HistoryCustomers, _ world: HistoryWorld, _ service: ServedProcess, _ apple: FinishedAnswers.Server,
    _ pool: Pool
  ) async throws -> Part {
    let shape = customers.shape
    try await service.register(shape.plan.app)
    let app = try await pool.read { session throws(DatabaseError) in try AppTable.find(shape.bundleID, in: session) }
    guard let app else { throw BenchmarkError("\(shape.bundleID) is not registered") }
    let ledger = HistoryLedger(pool: pool, app: app)
    try await ledger.arrive(customers)
    try await ledger.knowNoLimit()
    let simulator = ProcessFigures(id: apple.program.id)
    let (before, appleBefore) = (try service.processorSeconds(), try simulator.processorSeconds())
    try service.register(world.store.identity.key, of: shape.plan.app)
    let end = WallClock.system.now() + patience
    while try await ledger.isWaiting() {
      guard WallClock.system.now() < end else { throw BenchmarkError("\(shape.name): not done after \(patience)") }
      try await Task.sleep(for: .milliseconds(200))
    }
    let (after, appleAfter) = (try service.processorSeconds(), try simulator.processorSeconds())
    let outcome = try await ledger.outcome()
    let lost = customers.transactionIDs.subtracting(outcome.transactionIDs).count
    return Part(
      customers: customers.count, transactions: customers.transactions,
      seconds: Double(max(1, outcome.took.milliseconds)) / 1_000,
      lost: max(lost, customers.transactions - outcome.purchases), unsettled: outcome.unsettled + outcome.again,
      service: after.service - before.service, database: after.database - before.database,
      apple: appleAfter - appleBefore)
  }
}

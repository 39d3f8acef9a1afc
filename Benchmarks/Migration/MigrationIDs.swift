import Database
import Glibc
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// The histories of old receipts' customers fetched by a bulk migration, beside what `seeding.history` reaches.
///
/// `--customers` customers of five transactions each: first their ids arrive by themselves as in `seeding.history`, with another
/// service; then a file with one receipt a customer is migrated. Nobody limits the rate. In both the app's key is registered
/// once all ids are there (what reading receipts costs is `migration.rows`), and measured is from the first answer of Apple's
/// to the last settled id. Each is done twice, the migration in the middle: the speed of a machine changes within minutes.
/// Then some of the customers once more, at most 50 a second (`--customers-per-second 50`), with the key from the beginning. At the end every
/// transaction id of the simulated world must be in the ledger, and the accounts say that every id is settled.
enum MigrationIDs {
  static let name = "migration.ids"
  private static let patience = Interval.minutes(60)
  /// What `--customers-per-second` says, and for how many seconds of work.
  private static let (calls, throttledSeconds) = (50, 60)

  static let benchmark = Benchmark(
    name: name, summary: "the histories of old receipts' customers fetched by a bulk migration"
  ) { settings in
    let world = try HistoryWorld(hundred: 0, five: settings.customers)
    let place = try ScratchDirectory()
    let file = "\(place.path)/answers"
    var writer = try FinishedAnswers.Writer(file)
    _ = try await world.answers(world.five, to: &writer)
    let pki = try ReceiptPKI.generate(at: NotificationSamples.start)
    let receipts = try place.write(try world.five.receipts(signedBy: pki), to: "receipts.txt")
    settings.note("  \(world.five.count) customers' answers and receipts signed")
    let root = try place.write(pki.root.certificate.der, to: "receipts.der")
    let key = world.store.identity.key
    func seededCourse() async throws -> Course {
      let course = try await rate(world, file) { service, pool in
        let part = try await SeedingHistory.measure(world.five, world, service.0, service.1, pool)
        return Course(
          customers: world.five.count, seconds: part.seconds, service: part.service, database: part.database)
      }
      settings.note("  seeded: \(course)")
      return course
    }
    func migratedCourse() async throws -> Course {
      let course = try await rate(world, file, trusting: ["--trust-root", root]) { service, pool in
        try await migrate(world.five, receipts, key, service.0, pool)
      }
      settings.note("  migrated: \(course)")
      return course
    }
    var seeded = try await seededCourse()
    var migrated = try await migratedCourse()
    migrated += try await migratedCourse()
    seeded += try await seededCourse()
    let few = world.five.first(calls * throttledSeconds)
    let fewReceipts = try place.write(try few.receipts(signedBy: pki), to: "few.txt")
    let throttled = try await rate(world, file, trusting: ["--trust-root", root]) { service, pool in
      try await migrate(few, fewReceipts, key, service.0, pool, atMost: calls)
    }
    return [
      Measurement(
        name: name, value: migrated.perSecond, unit: "customers/s", against: seeded.perSecond, peer: "seeding.history",
        target: .atLeast(0.9)),
      Measurement(
        name: "\(name).throttled", value: throttled.perSecond, unit: "customers/s", against: Double(calls),
        peer: "--customers-per-second",
        target: .atLeast(0.95)),
    ]
  }

  /// How it went, seconds on a core among it.
  private struct Course: CustomStringConvertible {
    var customers = 0
    var seconds = 0.0
    var service = 0.0
    var database = 0.0

    static func += (sum: inout Course, course: Course) {
      sum.customers += course.customers
      sum.seconds += course.seconds
      sum.service += course.service
      sum.database += course.database
    }

    var perSecond: Double { Double(customers) / seconds }
    var description: String {
      func each(_ seconds: Double) -> String { Figure.text(seconds * 1e6 / Double(customers)) }
      return
        "\(Figure.text(perSecond)) customers/s; us on a core for each: service \(each(service)), database \(each(database))"
    }
  }

  /// By a service of its own.
  private static func rate(
    _ world: HistoryWorld, _ answers: String, trusting options: [String] = [],
    _ measure: ((ServedProcess, FinishedAnswers.Server), Pool) async throws -> Course
  ) async throws -> Course {
    let apple = try FinishedAnswers.Server(answers)
    let service = try await ServedProcess.start(
      root: world.root,
      options: ["--base-url", apple.url, "--reconcile-every", "0", "--heartbeat-every", "0", "--ocsp", "off"] + options)
    let pool = Pool(service.database)
    let course = try await measure((service, apple), pool)
    await pool.close()
    try service.stop()
    _ = try apple.stop()
    return course
  }

  private static func migrate(
    _ customers: HistoryCustomers, _ receipts: String, _ key: DeveloperKey, _ service: ServedProcess, _ pool: Pool,
    atMost calls: Int? = nil
  ) async throws -> Course {
    let app = customers.shape.plan.app
    try await service.register(app)
    let known = try await pool.read { session throws(DatabaseError) in try AppTable.find(app.bundleID, in: session) }
    guard let known else { throw BenchmarkError("\(app.bundleID) is not registered") }
    let ledger = HistoryLedger(pool: pool, app: known)
    try await ledger.knowNoLimit()
    if calls != nil { try service.register(key, of: app) }
    try service.run(
      ["migrate", "start", "--yes", "--app", app.bundleID, "--environment", "Sandbox"]
        + (calls.map { ["--customers-per-second", "\($0)"] } ?? []) + [receipts])
    var (state, accounts) = try await job(pool) { $1.usable == customers.count }
    let before = try service.processorSeconds()
    if calls == nil { try service.register(key, of: app) }
    (state, accounts) = try await job(pool) { state, _ in state != .running }
    let after = try service.processorSeconds()
    guard state == .done, accounts.ids == accounts.settled, accounts.usable == customers.count else {
      throw BenchmarkError("the job is \(state.map { "\($0)" } ?? "gone"): \(accounts)")
    }
    let outcome = try await ledger.outcome()
    let lost = customers.transactionIDs.subtracting(outcome.transactionIDs).count
    guard lost == 0 else { throw BenchmarkError("\(lost) transactions are lost") }
    return Course(
      customers: customers.count, seconds: Double(max(1, outcome.took.milliseconds)) / 1_000,
      service: after.service - before.service, database: after.database - before.database)
  }

  /// Waits until this is true of the job, and returns how it stands then.
  private static func job(
    _ pool: Pool, _ isTrue: (MigrationJob.State?, MigrationCounts) -> Bool
  ) async throws -> (MigrationJob.State?, MigrationCounts) {
    let end = ContinuousClock.now + .milliseconds(patience.milliseconds)
    while true {
      let (state, accounts) = try await pool.read { session throws(DatabaseError) in
        (try MigrationJobTable.find(1, in: session)?.state, try MigrationAccountTable.read(1, in: session).all)
      }
      if isTrue(state, accounts) { return (state, accounts) }
      guard ContinuousClock.now < end else { throw BenchmarkError("not done after \(patience): \(accounts)") }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}

extension HistoryCustomers {
  /// One receipt of each customer, one a line.
  fileprivate func receipts(signedBy pki: ReceiptPKI) throws -> [UInt8] {
    var lines: [UInt8] = []
    for purchases in purchases {
      let receipt = SimulatedReceipt(
        of: shape.plan.app, purchases: purchases, createdAt: NotificationSamples.start)
      lines += try receipt.encoded(signedBy: pki)
      lines.append(0x0A)
    }
    return lines
  }
}

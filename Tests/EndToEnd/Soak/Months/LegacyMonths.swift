import struct Simulator.Destination

/// Months of an app whose URL at Apple is V1, with its API key, lived against the service as operators run it; at each
/// day's end every customer's access in `/v1` is compared with what the simulated App Store knows.
///
/// How the look-up's duration is allowed for: a day ends when no look-up is due and none is under way. Before that,
/// minutes pass, no more than look-ups and their pauses take; while they do, the world goes on. Nobody is forgiven
/// anything else, but for a day on which Apple's API is down: then nobody may have lost access, and whoever was refunded
/// may still have it as long as the look-up that says so is open. The daily comparison is off: it does not help.
struct LegacyMonths: Sendable {
  struct Outcome: Sendable {
    /// Customers who read otherwise than they are, each with its day.
    var differences: [String] = []
    /// Subscriptions compared, on all days together.
    var compared = 0
    /// Of them, those with access in `/v1`.
    var entitled = 0
    /// Of them, those held on a day on which Apple's API was down.
    var held = 0
    /// Subscriptions that V1 never named, and that are known by nobody.
    var untold: Set<String> = []
    /// Notifications that the service took: no claimed change is without one.
    var notifications = 0
    /// Changes that were claimed, of one purchase or subscription by one message each.
    var reports = 0
    /// Answers of Get Transaction History and of Get All Subscription Statuses.
    var histories = 0
    var statuses = 0
    /// Periods that ended without a signed word, and were asked about for that.
    var renewalChecks = 0
    var outages = 0
    var kills = 0
    var seconds = 0
  }

  private let plan: LegacyMonthsPlan
  private let time: WorldTime
  private let apple: RunningAppStore
  private let program: Program
  private let serving: [String]
  private let pool: Pool
  private let client = HTTPClient()
  private let token: String

  static func live(_ plan: LegacyMonthsPlan) async throws -> Outcome {
    let database = try await TestDatabase()
    let time = WorldTime(at: MonthsPlan.start, in: database.place)
    let apple = try RunningAppStore.start(plan.world, RunningAppStore.Settings(), clock: time.clock)
    var program = database.program
    program.environment.merge(time.environment) { _, new in new }
    program.runsProcesses = true
    program.environment["SWITCHYARD_BASE_URL"] = apple.productionURL
    let token = try await Months.register(apple, program, database.place)
    let root = database.place.file("root.der", apple.store.identity.chains.pki.root.certificate.der)
    let months = LegacyMonths(
      plan: plan, time: time, apple: apple, program: program,
      serving: [
        "--trust-root", root, "--trust-root", "Production", "--i-know-this-root-can-make-purchases-count",
        "--reconcile-every", "0", "--heartbeat-every", "0", "--log-level", "warning",
      ], pool: Pool(database.configuration), token: token)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await apple.run() }
      defer { group.cancelAll() }
      let outcome = try await months.run()
      await months.client.shutdown()
      await months.pool.close()
      return outcome
    }
  }

  // MARK: The days

  private func run() async throws -> Outcome {
    let begun = ContinuousClock.now
    var outcome = Outcome()
    var running = try await serve()
    defer { kill(running.id, SIGKILL) }
    try await countReports()
    // They change nothing, and count.
    for operation in Self.operations {
      _ = try await control(
        "POST", "faults",
        ["fault": "slow", "value": 0, "on": "api", "operation": .string(operation), "times": .null])
    }
    // Of whom `/v1` said at the end of the day before that they have access.
    var granted: Set<String> = []
    for day in 0..<plan.days {
      let enough = day < plan.days * 2 / 3 ? 2 : 1
      let isDown = outcome.outages < plan.outages && day >= plan.days / 3 && endingWithinADay >= enough
      if isDown { outcome.outages += 1 }
      if isDown { _ = try await control("POST", "faults", ["fault": "serverError", "on": "api", "times": .null]) }
      try await advance(.days(1))
      if plan.kills.contains(day) {
        running = try await killAndServe(running)
        outcome.kills += 1
      }
      try await settle(isDown: isDown)
      granted = try await compare(day, isDown: isDown, before: granted, running, &outcome)
      guard isDown else { continue }
      try await apple.endFaults(client) { $0["fault"] == "serverError" }
      // What failed is asked again within the hour.
      try await advance(.minutes(61))
      try await settle(isDown: false)
      granted = try await compare(day, isDown: false, before: granted, running, &outcome)
    }
    outcome.renewalChecks = try await metric("switchyard_renewal_checks_total", #"outcome="asked""#, running)
    outcome.notifications = try await delivered()
    outcome.reports = try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT number FROM counted_reports").first?.int(0) ?? 0
    }
    (outcome.histories, outcome.statuses) = try await answered()
    let status = await running.end(SIGTERM)
    if status != 0 { outcome.differences.append("the service ended with \(status): \(running.notes.suffix(2_000))") }
    outcome.seconds = Int((ContinuousClock.now - begun).components.seconds)
    return outcome
  }

  private static let operations = ["getTransactionHistory", "getAllSubscriptionStatuses"]

  private func serve() async throws -> RunningProgram {
    let running = try await RunningProgram.serve(program, serving)
    apple.send(
      SimulatedAppScope(bundleID: MonthsPlan.app, environment: .production),
      to: Destination(url: "\(running.url)/notifications/\(MonthsPlan.app)", version: .v1))
    return running
  }

  /// Kills the service as soon as it has leased somebody, and starts it again; what it had leased is free when its leases
  /// have ended.
  private func killAndServe(_ running: RunningProgram) async throws -> RunningProgram {
    time.advance(by: .seconds(2))
    _ = try await eventually(within: .seconds(10)) {
      let waiting = try await count("work WHERE state = 0")
      let leased = try await count("work WHERE state = 0 AND owner IS NOT NULL")
      return leased > 0 || waiting == 0
    }
    await running.end(SIGKILL)
    let next = try await serve()
    time.advance(by: .minutes(16))
    return next
  }

  /// Returns when no look-up is due and none is under way, nor would be after a pause between two of a customer; while
  /// Apple's API is down, when each was tried.
  private func settle(isDown: Bool) async throws {
    // At once for messages that gather; then a minute a second, for pauses between look-ups of a customer. Faster, leases
    // would end while Apple is being asked; but while its API is down it answers at once.
    time.advance(by: .seconds(2))
    let speed: Int64 = isDown ? 240 : 60
    var last = ContinuousClock.now
    for _ in 0..<20 {
      let isQuiet = try await eventually(within: .seconds(120)) {
        let instant = ContinuousClock.now
        time.advance(by: .milliseconds(speed * Int64((instant - last) / .milliseconds(1))))
        last = instant
        let now = time.clock.now()
        // While Apple's API is down, everything was tried once, and is tried again and again.
        let waiting = try await count(isDown ? "work WHERE state = 0 AND attempts = 0" : "work WHERE state = 0")
        let checks = try await count("renewal_checks WHERE due_at <= \(now)")
        return waiting == 0 && checks == 0
      }
      guard isQuiet else { throw Unsettled(left: try await work()) }
      let known = try await count("inbox")
      try await advance(.milliseconds(0))
      if try await count("inbox") == known { return }
    }
    throw Unsettled(left: try await work())
  }

  /// Work is never done: what is left of it.
  struct Unsettled: Error {
    let left: [String]
  }

  private func work() async throws -> [String] {
    let now = time.clock.now()
    return try await pool.read { session throws(DatabaseError) in
      try session.query(
        """
        SELECT subject, kind, attempts, owner IS NOT NULL AS is_owned, begun, due_at, COALESCE(reason, '') AS why FROM work
        WHERE state = 0 LIMIT 20
        """
      ).map { row throws(DatabaseError) in
        "\(try row.text("subject")) kind \(try row.int("kind")) attempts \(try row.int("attempts")) owned "
          + "\(try row.bool("is_owned")) begun \(try row.int("begun")) due in "
          + "\((try row.milliseconds("due_at") - now).milliseconds) ms: \(try row.text("why"))"
      }
    }
  }

  // MARK: The comparison

  /// A subscription as the App Store knows it.
  private struct Truth {
    let original: String
    let isEntitled: Bool
  }

  private var truth: [Truth] {
    apple.world.truth().compactMap { line in
      guard line["kind"] == "subscription", let original = line["originalTransactionId"]?.string else { return nil }
      return Truth(original: original, isEntitled: [1, 4].contains(line["status"]?.integer ?? 0))
    }
  }

  /// The subscriptions that are to renew within a day and were not charged for it yet: an outage then is felt.
  private var endingWithinADay: Int {
    let (lines, now) = (Array(apple.world.truth()), apple.world.now)
    var ends: [String: Timestamp] = [:]
    for line in lines {
      guard let transaction = line["transaction"]?.object, let id = transaction["transactionId"]?.string else {
        continue
      }
      ends[id] = transaction["expiresDate"]?.milliseconds
    }
    return lines.count { line in
      guard line["kind"] == "subscription", line["status"] == 1, line["renewal"]?.object?["autoRenewStatus"] == 1,
        let end = line["transactionId"]?.string.flatMap({ ends[$0] })
      else { return false }
      return now < end && end < now + .days(1)
    }
  }

  /// Compares everybody; of whom `/v1` says that they have access.
  ///
  /// - Parameter before: of whom it said so before Apple's API went down.
  private func compare(
    _ day: Int, isDown: Bool, before: Set<String>, _ running: RunningProgram, _ outcome: inout Outcome
  ) async throws -> Set<String> {
    var left = truth
    var granted: Set<String> = []
    var differences: [String] = []
    // A period may end between the two questions: whoever differs is asked about again.
    for attempt in 0..<3 {
      differences = []
      let named = try await named()
      var again: Set<String> = []
      for subscription in left {
        let found = try await self.subscription(subscription.original, running)
        if attempt == 0 { outcome.compared += 1 }
        guard let found else {
          if named.contains(subscription.original) {
            again.insert(subscription.original)
            differences.append("day \(day): \(subscription.original) was named and is not known")
          } else {
            outcome.untold.insert(subscription.original)
          }
          continue
        }
        let grants = found["grantsAccess"] == true
        if grants { granted.insert(subscription.original) } else { granted.remove(subscription.original) }
        if attempt == 0, grants { outcome.entitled += 1 }
        if attempt == 0, grants, found["accessHeldUntil"] != nil { outcome.held += 1 }
        if grants == subscription.isEntitled { continue }
        if isDown, Self.isAllowed(found, grants, hadAccess: before.contains(subscription.original)) { continue }
        again.insert(subscription.original)
        differences.append(
          "day \(day)\(isDown ? ", Apple's API down" : ""): \(subscription.original) is "
            + "\(subscription.isEntitled ? "" : "not ")entitled: \(String(decoding: found.encoded(), as: UTF8.self))")
      }
      if again.isEmpty { break }
      try await settle(isDown: isDown)
      left = truth.filter { again.contains($0.original) }
    }
    for difference in differences { plan.say(difference) }
    if plan.isLoud, !differences.isEmpty {
      for subscription in left {
        let told = try await program.run("explain", MonthsPlan.app, subscription.original, "--sources")
        plan.say(told.output)
        for line in apple.world.truth() where line["kind"] != "customer" {
          let text = String(decoding: line.encoded(), as: UTF8.self)
          if text.contains(subscription.original) { plan.say(text) }
        }
      }
    }
    plan.say("day \(day) of \(plan.days): \(truth.count) subscriptions, \(differences.count) differ")
    outcome.differences += differences
    return granted
  }

  /// What may be while Apple cannot be asked: a claimed refund takes nothing away yet, and whoever had no access when the
  /// API went down may have to wait for it.
  private static func isAllowed(_ found: JSONObject, _ grants: Bool, hadAccess: Bool) -> Bool {
    let lookUp = found["lookup"]?.object
    guard lookUp?["state"] == "open" else { return false }
    return grants ? lookUp?["because"]?.array?.contains("refund") == true : !hadAccess
  }

  /// The subscription as `/v1` shows it; nil when it is not known.
  private func subscription(_ original: String, _ running: RunningProgram) async throws -> JSONObject? {
    let answer = try await client.send(
      ClientRequest(
        method: "GET", url: "\(running.url)/v1/apps/\(MonthsPlan.app)/purchases/\(original)?provenance=false",
        headers: [(name: "Authorization", value: "Bearer \(token)")], deadline: .seconds(60)))
    if answer.status == 404 { return nil }
    let results = try JSONReader.read(answer.body).object?["results"]?.array ?? []
    return results.flatMap { $0.object?["subscriptions"]?.array ?? [] }.compactMap(\.object)
      .first { $0["originalTransactionId"]?.string == original }
  }

  /// Has the database count what is claimed, apart from what the service makes of it.
  private func countReports() async throws {
    try await pool.read { session throws(DatabaseError) in
      try session.run("CREATE TABLE counted_reports (number BIGINT NOT NULL)")
      try session.run("INSERT INTO counted_reports (number) VALUES (0)")
      try session.run(
        """
        CREATE TRIGGER counted_first AFTER INSERT ON claimed_changes FOR EACH ROW
        UPDATE counted_reports SET number = number + NEW.changes
        """)
      try session.run(
        """
        CREATE TRIGGER counted_next AFTER UPDATE ON claimed_changes FOR EACH ROW
        UPDATE counted_reports SET number = number + IF(NEW.changes > OLD.changes, NEW.changes - OLD.changes, 0)
        """)
    }
  }

  // MARK: The App Store

  private func advance(_ interval: Interval) async throws {
    time.advance(by: interval)
    _ = try await control("POST", "advance", ["to": .integer(time.clock.now().sinceEpoch)])
  }

  /// The calls that were not refused by an outage.
  private func answered() async throws -> (histories: Int, statuses: Int) {
    let rules = try await apple.faults(client)
    let counts = Self.operations.map { operation in
      rules.first { $0["operation"]?.string == operation && $0["fault"] == "slow" }?["matched"]?.integer ?? 0
    }
    return (Int(counts[0]), Int(counts[1]))
  }

  private func delivered() async throws -> Int {
    Int(try await control("GET", "notifications?limit=1&state=delivered")["count"]?.integer ?? 0)
  }

  private func metric(_ name: String, _ labels: String, _ running: RunningProgram) async throws -> Int {
    let answer = try await client.send(ClientRequest(method: "GET", url: "\(running.url)/metrics"))
    let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
    return lines.filter { $0.hasPrefix(name + "{") && $0.contains(labels) }
      .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0) { $0 + Int($1) }
  }

  @discardableResult
  private func control(_ method: String, _ path: String, _ body: JSONObject? = nil) async throws -> JSONObject {
    try await apple.control(client, method, path, body)
  }

  /// The ids that any message brought.
  private func named() async throws -> Set<String> {
    try await pool.read { session throws(DatabaseError) in
      var named: Set<String> = []
      for row in try session.query("SELECT transaction_id FROM seeds") { named.insert(try row.text(0)) }
      return named
    }
  }

  private func count(_ condition: SQL) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
    }
  }
}

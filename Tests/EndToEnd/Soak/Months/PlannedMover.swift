/// Takes the apps from `legacy` to `complete` as runbooks/rollout.md says: by `migrate`, `rollout plan` and `rollout advance --auto`.
///
/// `rollout advance --auto --once` looks once at each step, as from cron; it reads the world's time as the service does. What a
/// person does by the runbook is done when the commands ask for it, and nothing is forced. The apps are small: less
/// certainty is asked for, and the guard decides by fewer customers, as the page says for such. It is about Production;
/// nobody buys in the Sandbox.
///
/// In each stage of each app, and while it is migrated, two processes and the database are killed while customers ask, and
/// Apple fails for a while; the app goes no further before that has happened.
///
/// Many a day has its row of completeness from a TEST alone: the simulator's notification history lists those that the service
/// asks for. Whether Apple's does is not said anywhere.
struct PlannedMover: StageMover {
  /// The stages of an app, each of which has its kills.
  static let allStages = ["legacy", "record", "shadow", "ramp", "live", "complete"]
  /// What is killed for while an app is migrated, which is in `record` then.
  static let migration = "migration"
  /// In percent; 29 customers without an impact are enough then.
  static let impactBound = "10"
  /// In the morning: of the day before everything was compared then.
  static let start = MonthsPlan.start + .hours(6)

  /// When things are done first, in hundredths of the time; before the first of them there are too few customers.
  private static let (harms, records, migrates, moves) = (22, 25, 29, 33)

  /// An app, as `rollout plan` lists it.
  private struct Planned {
    let app: String
    let ids: Int64
    let stage: String
  }

  let database: WorldDatabase
  var story: [String] = []
  var faults: [String] = []
  /// The stages by app, and since when an app is in its stage.
  private(set) var stages: [String: String] = [:]
  private(set) var since: [String: Timestamp] = [:]
  private(set) var isHarmful = false
  private var jobs: [String: Int64] = [:]
  /// The apps whose migration was begun, and those whose is proven.
  private var begun: Set<String> = []
  private var proven: Set<String> = []
  /// Where harm was done, by app and stage, and where an impact was complained of.
  private var harmed: Set<Strike> = []
  var affected: Set<String> = []
  /// The app that is moved now.
  private var current: String?
  /// To be killed while customers ask.
  private var databaseKills: [Strike] = []

  init(_ database: WorldDatabase) { self.database = database }

  /// Evidence counts for 14 days: who is moved is looked at every other day.
  var step: Interval { current == nil ? calendar.step : .days(2) }

  /// Where we answer everybody, Apple is asked beside us about one call of an app every two seconds, and of a burst about one.
  ///
  /// While harm is done all ask at once: there is no database then that could be told the time.
  var groups: Int { current == nil || isHarmful ? 1 : 24 }

  var start: Timestamp { Self.start }
  /// Bounds are proven by customers who are there: all come before the first app is moved.
  var arrival: Interval { .days(120) }

  var complaints: [String] {
    let left = stages.filter { $0.value != "complete" }.sorted { $0.key < $1.key }
    return faults + left.map { "\($0.key) is in \($0.value) at the end" }
  }

  mutating func move(_ site: SwitchedSite, at moment: SwitchedMoment) async throws {
    try await site.endFailures()
    // Where too few asked it is done the next time.
    let struck = Set(site.workers.strikes.filter { $0.victim == .database }.map { [$0.app, $0.stage] })
    databaseKills.removeAll { struck.contains([$0.app, $0.stage]) }
    let plans = try await plans(site)
    try await look(plans, site)
    try await prepare(plans, site, at: moment)
    // The smallest first, one after the other.
    let left = plans.filter { $0.stage != "complete" }
    if current == nil, moment.isPast(Self.moves), let next = left.first, proven.contains(next.app) {
      let order = left.map { "\($0.app) with \($0.ids) ids" }
      tell("\(next.app) is moved, of \(order)", site)
      if next.ids != left.map(\.ids).min() { faults.append("not the smallest first: \(order)") }
      current = next.app
      try await begin(next.app, site)
    }
    if let current, isSpared(current, site) { try await goOn(current, site) }
    try await look(self.plans(site), site)
    isHarmful = !databaseKills.isEmpty || site.workers.hasOrders
  }

  /// Takes the apps to `record`, and migrates them: one at a time, so that each has its harm for itself.
  private mutating func prepare(_ plans: [Planned], _ site: SwitchedSite, at moment: SwitchedMoment) async throws {
    let first = plans.filter { $0.stage == "legacy" }
    if moment.isPast(Self.harms),
      let next = first.first(where: { !harmed.contains(Strike(app: $0.app, stage: $0.stage)) })
    {
      return try await harm(next.app, next.stage, site)
    }
    if moment.isPast(Self.records), let next = first.first {
      if isSpared(next.app, site) {
        try await site.run(["rollout", "advance", next.app, "--environment", "Production"])
      }
      return
    }
    for plan in plans where plan.stage == "record" && moment.isPast(Self.migrates) && isSpared(plan.app, site) {
      try await migrate(plan.app, site)
    }
  }

  /// Whether nothing is ordered to be killed for an app: it stays in its stage until that has happened.
  private func isSpared(_ app: String, _ site: SwitchedSite) -> Bool {
    !site.workers.hasOrders(of: app) && !databaseKills.contains { $0.app == app }
  }

  func advance(_ time: WorldTime, by interval: Interval) async throws { try await database.advance(by: interval) }

  func disturb(_ site: SwitchedSite) async throws {
    for strike in databaseKills {
      let before = site.workers.answered
      // Somebody has to be under way.
      guard await eventually(within: .seconds(30), { site.workers.answered >= before + 8 }) else { continue }
      try await database.kill()
      site.workers.note(strike)
    }
  }

  // MARK: What is seen

  /// Notes something with its date, and says it at once: the months take hours.
  mutating func tell(_ text: String, _ site: SwitchedSite) {
    let line = "\(site.time.clock.now().iso8601) \(text)"
    story.append(line)
    Self.say(line)
  }

  /// Standard output comes when the tests end.
  static func say(_ text: String) {
    let bytes = Array("soak.auto: \(text)\n".utf8)
    _ = unsafe write(2, bytes, bytes.count)
  }

  /// The apps in Production, in the order in which they are to be moved.
  private func plans(_ site: SwitchedSite) async throws -> [Planned] {
    try await site.run(["rollout", "plan", "--json"]).objects.compactMap { plan in
      guard plan["environment"] == "Production", let app = plan["app"]?.string, let stage = plan["stage"]?.string else {
        return nil
      }
      return Planned(app: app, ids: plan["ids"]?.integer ?? -1, stage: stage)
    }
  }

  /// Notes what has changed, and has harm done where an app is in a stage for the first time.
  private mutating func look(_ plans: [Planned], _ site: SwitchedSite) async throws {
    for plan in plans where stages[plan.app] != plan.stage {
      let isNew = !harmed.contains(Strike(app: plan.app, stage: plan.stage))
      tell("\(plan.app) comes to \(plan.stage)", site)
      (stages[plan.app], since[plan.app]) = (plan.stage, site.time.clock.now())
      site.workers.note(plan.stage, of: plan.app)
      // In the first of them nobody is there yet.
      if isNew, plan.stage != "legacy" { try await harm(plan.app, plan.stage, site) }
      if plan.stage == "complete" {
        try await report(plan.app, site)
        if current == plan.app { current = nil }
      }
    }
  }

  /// Has two processes killed while customers ask, and the database, and has Apple fail.
  private mutating func harm(_ app: String, _ stage: String, _ site: SwitchedSite) async throws {
    var strike = Strike(app: app, stage: stage)
    harmed.insert(strike)
    // Four ask at once: some have their answers by then.
    for requests in [9, 15] { site.workers.killOne(after: requests, for: strike, amongAnswers: true) }
    strike.victim = .database
    databaseKills.append(strike)
    for surface in [Fault.Surface.api, .verifyReceipt] {
      try await site.control("faults", FaultRule(Fault(.serverError), on: surface, times: 10).json)
    }
  }

  // MARK: What is brought along

  /// Begins the migration of an app's old receipts, and has it proven when it is done.
  private mutating func migrate(_ app: String, _ site: SwitchedSite) async throws {
    guard let job = jobs[app] else {
      guard databaseKills.isEmpty, begun.insert(app).inserted else { return }
      let file = site.place.file("\(app).csv", try receipts(of: app, site))
      let started = try await site.run(
        ["migrate", "start", file, "--app", app, "--environment", "Production", "--yes", "--json"])
      jobs[app] = try started.objects.first?["job"]?.integer
      if jobs[app] == nil { faults.append("\(app): migrate start names no job: \(started)") }
      tell("\(app) is migrated", site)
      return try await harm(app, Self.migration, site)
    }
    guard !proven.contains(app) else { return }
    let status = try await site.run(["migrate", "status", "\(job)", "--json"]).objects.first
    guard status?["state"] == "done" else {
      if status?["state"] != "running" { faults.append("migration \(job): \(String(describing: status))") }
      return
    }
    // 4: histories are still to come. 5: somebody would have other access. 7: Apple did not answer.
    let verified = try await site.run(
      ["migrate", "verify", "\(job)", "--max-impact", Self.impactBound, "--receipts-per-second", "50", "--json"]
        + site.trust,
      allowing: [0, 4, 5, 7])
    if verified.status == 5 { try await lookIntoImpact(verified, of: app, site) }
    guard verified.status == 0 else { return }
    proven.insert(app)
    tell("\(app) is proven: \(verified.output.prefix(400))", site)
  }

  /// Complains of whoever would have other access, but for consumables: they were used up since the receipt, and it is
  /// verified again some days later, as the page says.
  private mutating func lookIntoImpact(_ verified: Program.Outcome, of app: String, _ site: SwitchedSite) async throws {
    tell("\(app) is not proven yet: \(verified.output.prefix(400))", site)
    let words = ["compare", "list", "--app", app, "--impact", "--environment", "Production"]
    let causes = try await site.run(words + ["--json"]).objects.compactMap { $0["cause"]?.string }
    if causes.contains(where: { $0 != "consumable" }) {
      faults.append("\(app): verify: \(verified.output) \(try await site.run(words).output.prefix(2_000))")
    }
  }

  /// The table of the app's old back end: who has sent which receipt.
  private func receipts(of app: String, _ site: SwitchedSite) throws -> [UInt8] {
    let world = site.apple.world
    var rows = Array("app,user_id,receipt\n".utf8)
    for customer in world.customers(of: app) {
      let state = world.state(of: customer)
      guard !state.legacyPurchases.isEmpty else { continue }
      let receipt = try state.receipt.encoded(signedBy: site.apple.store.identity.receiptPKI)
      rows += Array("\(app),\(state.userID),".utf8) + receipt + [0x0A]
    }
    return rows
  }
}

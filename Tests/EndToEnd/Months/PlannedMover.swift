import JSON
import Simulator
import Support
import Time

/// Takes the apps from `legacy` to `complete` as runbooks/rollout.md says: by `migrate`, `rollout plan` and `rollout auto`.
///
/// `rollout auto --once` looks once at each step, as from cron; it reads the world's time as the service does. What a
/// person does by the runbook is done when the commands ask for it, and nothing is forced. The apps are small: less
/// certainty is asked for, and the guard decides by fewer customers, as the page says for such. It is about Production;
/// nobody buys in the Sandbox.
///
/// With each new stage of an app two processes and the database are killed, and Apple fails for a while.
struct PlannedMover: StageMover {
  /// The stages of an app, each of which has its kills.
  static let allStages = ["legacy", "record", "shadow", "ramp", "live", "complete"]
  /// Five customers without an impact are enough then.
  static let impactBound = "50"

  /// When things are done first, in hundredths of the time.
  private static let (records, migrates, moves) = (8, 20, 26)

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
  private(set) var since: [String: Milliseconds] = [:]
  private var jobs: [String: Int64] = [:]
  private var proven: Set<String> = []
  /// The app that is moved now.
  private var current: String?
  private var databaseKills = 0

  init(_ database: WorldDatabase) { self.database = database }

  /// Evidence counts for 14 days: who is moved is looked at every other day.
  var step: Interval { current == nil ? SwitchedMoment.step : .days(2) }

  var complaints: [String] {
    let left = stages.filter { $0.value != "complete" }.sorted { $0.key < $1.key }
    return faults + left.map { "\($0.key) is in \($0.value) at the end" }
  }

  mutating func move(_ site: SwitchedSite, at moment: SwitchedMoment) async throws {
    databaseKills = 0
    let plans = try await plans(site)
    try await look(plans, site)
    for plan in plans where plan.stage == "legacy" && moment.isPast(Self.records) {
      try await site.run(["rollout", "advance", plan.app, "--environment", "Production"])
    }
    for plan in plans where plan.stage == "record" && moment.isPast(Self.migrates) {
      try await migrate(plan.app, site)
    }
    // The smallest first, one after the other.
    let left = plans.filter { $0.stage != "complete" }
    if current == nil, moment.isPast(Self.moves), let next = left.first, proven.contains(next.app) {
      let order = left.map { "\($0.app) with \($0.ids) ids" }
      tell("\(next.app) is moved, of \(order)", site)
      if next.ids != left.map(\.ids).min() { faults.append("not the smallest first: \(order)") }
      current = next.app
      try await begin(next.app, site)
    }
    if let current { try await goOn(current, site) }
    try await look(self.plans(site), site)
  }

  func advance(_ time: WorldTime, by interval: Interval) async throws { try await database.advance(by: interval) }

  func disturb() async throws {
    for _ in 0..<databaseKills { try await database.kill() }
  }

  // MARK: What is seen

  /// Notes something with its date.
  mutating func tell(_ text: String, _ site: SwitchedSite) { story.append("\(site.time.clock.now().iso8601) \(text)") }

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
      let isNew = !story.contains { $0.hasSuffix(" \(plan.app) comes to \(plan.stage)") }
      tell("\(plan.app) comes to \(plan.stage)", site)
      (stages[plan.app], since[plan.app]) = (plan.stage, site.time.clock.now())
      if isNew { try await harm(site) }
      if plan.stage == "complete" {
        try await report(plan.app, site)
        if current == plan.app { current = nil }
      }
    }
  }

  /// Has two processes killed among the next requests, the database while everybody asks, and has Apple fail.
  private mutating func harm(_ site: SwitchedSite) async throws {
    for requests in [3, 7] { site.workers.killOne(after: requests) }
    databaseKills += 1
    for surface in [Fault.Surface.api, .verifyReceipt] {
      try await site.control("faults", FaultRule(Fault(.serverError), on: surface, times: 10).json)
    }
  }

  // MARK: What is brought along

  /// Begins the migration of an app's old receipts, and has it proven when it is done.
  private mutating func migrate(_ app: String, _ site: SwitchedSite) async throws {
    guard let job = jobs[app] else {
      let file = site.place.file("\(app).csv", try receipts(of: app, site))
      let started = try await site.run(
        ["migrate", "start", file, "--app", app, "--environment", "Production", "--yes", "--json"])
      jobs[app] = try started.objects.first?["job"]?.integer
      tell("\(app) is migrated", site)
      return try await harm(site)
    }
    guard !proven.contains(app) else { return }
    let status = try await site.run(["migrate", "status", "\(job)", "--json"]).objects.first
    guard status?["state"] == "done" else {
      if status?["state"] != "running" { faults.append("migration \(job): \(String(describing: status))") }
      return
    }
    // 4: histories are still to come. 7: Apple did not answer.
    let verified = try await site.run(
      ["migrate", "verify", "\(job)", "--impact-bound", Self.impactBound, "--calls", "50", "--json"] + site.trust,
      allowing: [0, 4, 7])
    guard verified.status == 0 else { return }
    proven.insert(app)
    tell("\(app) is proven: \(verified.output.prefix(400))", site)
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

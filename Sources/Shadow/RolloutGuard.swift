import Answering
package import Database
package import JSON
import Ledger
import Purchases
import Rollout
package import Runtime
import Signing
package import Time

/// Takes our answers back by itself: an app whose customers would have had other access than with Apple's answers, or whose
/// answers fail or take too long, goes back to `shadow`, in every process, within seconds.
///
/// It never goes forward by itself, so it cannot flap. Without enough customers or calls it decides nothing.
package struct RolloutGuard: Service {
  package static let action: StaticString = "rollout.guard"
  private static let runbook = "runbooks/guard-breach.md"

  /// A name of this process: it announces only its own entries of the audit.
  private let process = [UInt8].random(count: 16)

  private let pool: Pool
  private let every: Duration
  private let announce: @Sendable (JSONObject) -> Void
  private let breaches: MetricFamily<Counter>
  private let states: MetricFamily<Gauge>
  private let clock: WallClock
  private let logger: Logger

  /// - Parameters:
  ///   - every: how often the figures are looked at.
  ///   - announce: is told of each app that this process took back, once it is committed; it must not wait.
  package init(
    pool: Pool, every: Duration = .seconds(2), announce: @escaping @Sendable (JSONObject) -> Void = { _ in },
    metrics: MetricsRegistry, clock: WallClock, logger: Logger
  ) {
    self.pool = pool
    self.every = every
    self.announce = announce
    self.clock = clock
    self.logger = logger
    breaches = metrics.counter(
      "switchyard_guard_breaches_total",
      help: """
        Apps that this process took back to shadow, by cause: impact, errors or latency. 0 from when an app is in \
        shadow.
        """,
      labels: ["app", "environment", "cause"], seriesLimit: 1_024)
    states = metrics.gauge(
      "switchyard_guard_state",
      help: "Guard of apps whose answers come from Switchyard: 0 too few customers were compared, 1 sound, 2 breached.",
      labels: ["app", "environment"])
  }

  /// What a process did so far.
  private struct Memory: Sendable {
    var triedToTakeBack = false
    /// The entries of the audit that were announced.
    var announced: Set<Int64> = []
  }

  package func run() async throws {
    var memory = Memory()
    while !Task.isCancelled {
      do { try await look(&memory) } catch {
        // What cannot be known holds.
        if !Task.isCancelled { logger.warning("the guard could not look", metadata: ["error": "\(error)"]) }
      }
      try? await Task.sleep(for: every)
    }
    // No other process announces its entries. While the database does not answer, the process ends all the same.
    let isAnnounced = await withTimeout(within: .seconds(5), otherwise: false) { [self, memory] in
      var memory = memory
      return (try? await announceEntries(&memory)) != nil
    }
    if !isAnnounced {
      logger.error("the guard took apps back and may not have announced all of them; see `switchyard rollout status`")
    }
  }

  private struct Found: Sendable {
    let app: App
    let flag: StageRecord
    /// Nil in `shadow`, where nothing is to be taken back.
    let verdict: GuardRule.Status?

    var scope: AppScope { AppScope(app: app.id, environment: flag.environment) }
    var labels: [String] { [app.bundleID, flag.environment.rawValue] }
  }

  private func look(_ memory: inout Memory) async throws {
    let now = clock.now()
    let found = try await pool.read { session throws(DatabaseError) in
      let flags = try StageTable.all(in: session).filter { $0.value.stage >= .shadow }
      guard !flags.isEmpty else { return [Found]() }
      let (rules, apps) = (try GuardTable.all(in: session), try AppTable.all(in: session))
      var found: [Found] = []
      for (scope, flag) in flags {
        guard let app = apps.first(where: { $0.id == scope.app }) else { continue }
        guard flag.stage.answers != .apple else {
          found.append(Found(app: app, flag: flag, verdict: nil))
          continue
        }
        let rule = rules[scope] ?? GuardRule()
        let figures = try GuardStatistics.read(scope, by: rule, since: flag.changedAt, at: now, in: session)
        found.append(Found(app: app, flag: flag, verdict: rule.verdict(of: figures)))
      }
      return found
    }
    // Where Apple answers there is no state.
    states.keep(only: found.filter { $0.verdict != nil }.map(\.labels))
    for one in found {
      let labels = one.labels
      // Named before there can be a breach: of a series that begins at 1, `increase()` says 0.
      for cause in GuardBreach.causes { _ = breaches[labels + [cause]] }
      switch one.verdict {
      case nil: break
      case .held: states[labels].record(0)
      case .sound: states[labels].record(1)
      case .breached(let breach):
        states[labels].record(2)
        memory.triedToTakeBack = true
        do { try await takeBack(one, for: breach, at: now) } catch {
          // The other apps do not wait for this one, which is tried again.
          guard !Task.isCancelled else { return }
          logger.error(
            "the guard could not take an app back",
            metadata: ["app": "\(one.app.bundleID)", "environment": "\(labels[1])", "error": "\(error)"])
        }
      }
    }
    try await announceEntries(&memory)
  }

  private func takeBack(_ found: Found, for breach: GuardBreach, at now: Timestamp) async throws {
    let (app, flag) = (found.app.bundleID, found.flag)
    let (environment, from) = (flag.environment.rawValue, StageTransition.name(flag.stage, flag.share))
    let text = "\(from) to shadow: \(breach.text)"
    let facts: JSONObject = [
      // Each stage is taken back once at most, so a receiver knows by the id what it was told before.
      "id": .string("\(app)/\(environment)/\(flag.epoch)"), "event": "guardBreach", "app": .string(app),
      "environment": .string(environment), "cause": .string(breach.cause),
      "text": .string("\(app) \(environment): \(text)"),
      "figures": .object(JSONObject(breach.figures.map { ($0.name, JSONValue.integer(Int64($0.value))) })),
      "from": .string(from), "to": "shadow", "at": .integer(now.sinceEpoch), "atISO": .string(now.iso8601),
      "runbook": .string(Self.runbook),
      "next_steps": .array(breach.next(app, environment).map(JSONValue.string)),
    ]
    try await pool.transaction { session throws(DatabaseError) in
      guard try StageTable.advance(found.scope, from: flag, to: .shadow, at: now, in: session) else { return }
      try AuditTable.note(
        Self.action, of: app, by: "guard", because: "\(environment): \(text)", at: now, from: process,
        announcing: facts, in: session)
    }
  }

  /// Counts, logs and announces this process's entries of the audit, each once, also where the answer to its COMMIT was lost.
  private func announceEntries(_ memory: inout Memory) async throws {
    guard memory.triedToTakeBack else { return }
    let entries = try await pool.read { session throws(DatabaseError) in
      try AuditTable.facts(from: process, in: session)
    }
    for (id, facts) in entries.sorted(by: { $0.key < $1.key }) where memory.announced.insert(id).inserted {
      func text(_ key: String) -> String { facts[key]?.string ?? "" }
      breaches[[text("app"), text("environment"), text("cause")]].increment()
      logger.error(
        "the guard took an app back to shadow",
        metadata: [
          "app": "\(text("app"))", "environment": "\(text("environment"))", "stage": "\(text("from"))",
          "cause": "\(text("cause"))", "figures": "\(text("text"))", "runbook": "\(Self.runbook)",
        ])
      announce(facts)
    }
  }
}

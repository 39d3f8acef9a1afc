package import Database
import Ledger
import Purchases
import Rollout
package import Runtime
package import Time

/// Takes our answers back by itself: an app whose customers would have had other access than with Apple's answers goes back
/// to `shadow`, in every process, within seconds.
///
/// It never goes forward by itself, so it cannot flap. Without enough customers it decides nothing.
package struct RolloutGuard: Service {
  package static let action: StaticString = "rollout.guard"

  private let pool: Pool
  private let every: Duration
  private let breaches: MetricFamily<Counter>
  private let states: MetricFamily<Gauge>
  private let clock: WallClock
  private let logger: Logger

  /// - Parameter every: how often the figures are looked at.
  package init(
    pool: Pool, every: Duration = .seconds(2), metrics: MetricsRegistry, clock: WallClock, logger: Logger
  ) {
    self.pool = pool
    self.every = every
    self.clock = clock
    self.logger = logger
    breaches = metrics.counter(
      "switchyard_guard_breaches_total", help: "Apps that this process took back to shadow.",
      labels: ["app", "environment"])
    states = metrics.gauge(
      "switchyard_guard_state",
      help: "Of apps that are answered by us: 0 too few customers were compared, 1 sound, 2 breached.",
      labels: ["app", "environment"])
  }

  package func run() async throws {
    while !Task.isCancelled {
      do { try await look() } catch {
        // What cannot be known holds.
        if !Task.isCancelled { logger.warning("the guard could not look", metadata: ["error": "\(error)"]) }
      }
      try? await Task.sleep(for: every)
    }
  }

  private struct Found: Sendable {
    let app: App
    let flag: Flag
    let rule: GuardRule
    let figures: ComparisonFigures

    var scope: Scope { Scope(app: app.id, environment: flag.environment) }
    var verdict: GuardRule.Verdict { rule.verdict(customers: figures.customers, affected: figures.affected) }
  }

  private func look() async throws {
    let now = clock.now()
    let found = try await pool.read { session throws(DatabaseError) in
      let flags = try FlagTable.all(in: session).filter { $0.value.stage.answers != .apple }
      guard !flags.isEmpty else { return [Found]() }
      let (rules, apps) = (try GuardTable.all(in: session), try AppTable.all(in: session))
      var found: [Found] = []
      for (scope, flag) in flags {
        guard let app = apps.first(where: { $0.id == scope.app }) else { continue }
        let rule = rules[scope] ?? GuardRule()
        let start = max(now - .seconds(Int64(rule.window)), flag.changedAt)
        found.append(
          Found(
            app: app, flag: flag, rule: rule,
            figures: try ComparisonFigures.read(scope, since: start, in: session)))
      }
      return found
    }
    for one in found {
      let labels = [one.app.bundleID, one.flag.environment.rawValue]
      switch one.verdict {
      case .held: states[labels].record(0)
      case .sound: states[labels].record(1)
      case .breached:
        states[labels].record(2)
        try await takeBack(one, at: now)
      }
    }
  }

  private func takeBack(_ found: Found, at now: Milliseconds) async throws {
    let reason = """
      \(found.flag.environment.rawValue): \(Move.name(found.flag.stage, found.flag.share)) to shadow: \
      \(found.figures.affected) of \(found.figures.customers) customers would have had other access
      """
    let isFirst = try await pool.transaction { session throws(DatabaseError) in
      guard try FlagTable.advance(found.scope, from: found.flag, to: .shadow, at: now, in: session) else {
        return false
      }
      try AuditTable.note(
        Self.action, of: found.app.bundleID, by: "guard", because: reason, at: now, in: session)
      return true
    }
    guard isFirst else { return }
    breaches[[found.app.bundleID, found.flag.environment.rawValue]].increment()
    logger.error(
      "the guard took an app back to shadow",
      metadata: [
        "app": "\(found.app.bundleID)", "environment": "\(found.flag.environment.rawValue)",
        "stage": "\(found.flag.stage.rawValue)", "customers": "\(found.figures.customers)",
        "affected": "\(found.figures.affected)",
      ])
  }
}

package import Database
import Ledger
import Purchases
import Rollout
package import Runtime
package import Time

/// Takes our answers back by itself: an app whose customers would have had other access than with Apple's answers, or whose
/// answers fail or take too long, goes back to `shadow`, in every process, within seconds.
///
/// It never goes forward by itself, so it cannot flap. Without enough customers or calls it decides nothing.
package struct RolloutGuard: Service {
  package static let action: StaticString = "rollout.guard"

  private let pool: Pool
  private let every: Duration
  private let announce: @Sendable (TakenBack) -> Void
  private let breaches: MetricFamily<Counter>
  private let states: MetricFamily<Gauge>
  private let clock: WallClock
  private let logger: Logger

  /// - Parameters:
  ///   - every: how often the figures are looked at.
  ///   - announce: is told of each app that this process took back, once it is committed; it must not wait.
  package init(
    pool: Pool, every: Duration = .seconds(2), announce: @escaping @Sendable (TakenBack) -> Void = { _ in },
    metrics: MetricsRegistry, clock: WallClock, logger: Logger
  ) {
    self.pool = pool
    self.every = every
    self.announce = announce
    self.clock = clock
    self.logger = logger
    breaches = metrics.counter(
      "switchyard_guard_breaches_total",
      help: "Apps that this process took back to shadow, by cause: impact, errors or latency.",
      labels: ["app", "environment", "cause"])
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
    let verdict: GuardRule.Verdict

    var scope: Scope { Scope(app: app.id, environment: flag.environment) }
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
        let figures = try GuardFigures.read(scope, by: rule, since: flag.changedAt, at: now, in: session)
        found.append(Found(app: app, flag: flag, verdict: rule.verdict(of: figures)))
      }
      return found
    }
    for one in found {
      let labels = [one.app.bundleID, one.flag.environment.rawValue]
      switch one.verdict {
      case .held: states[labels].record(0)
      case .sound: states[labels].record(1)
      case .breached(let breach):
        states[labels].record(2)
        do { try await takeBack(one, for: breach, at: now) } catch {
          // The other apps do not wait for this one, which is tried again.
          guard !Task.isCancelled else { return }
          logger.error(
            "the guard could not take an app back",
            metadata: ["app": "\(one.app.bundleID)", "environment": "\(labels[1])", "error": "\(error)"])
        }
      }
    }
  }

  private func takeBack(_ found: Found, for breach: GuardBreach, at now: Milliseconds) async throws {
    let (app, environment) = (found.app.bundleID, found.flag.environment.rawValue)
    let news = TakenBack(
      app: app, environment: environment, epoch: found.flag.epoch, breach: breach,
      from: Move.name(found.flag.stage, found.flag.share), at: now)
    let isFirst = try await pool.transaction { session throws(DatabaseError) in
      guard try FlagTable.advance(found.scope, from: found.flag, to: .shadow, at: now, in: session) else {
        return false
      }
      try AuditTable.note(
        Self.action, of: app, by: "guard", because: "\(environment): \(news.text)", at: now, in: session)
      return true
    }
    guard isFirst else { return }
    breaches[[app, environment, breach.cause]].increment()
    logger.error(
      "the guard took an app back to shadow",
      metadata: [
        "app": "\(app)", "environment": "\(environment)", "stage": "\(found.flag.stage.rawValue)",
        "cause": "\(breach.cause)", "figures": "\(breach.text)",
      ])
    announce(news)
  }
}

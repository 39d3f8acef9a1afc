import Answering
package import Database
import Ledger
import Purchases
import Rollout
package import Runtime
import Synchronization
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
      help: """
        Apps that this process took back to shadow, by cause: impact, errors or latency. 0 from when an app is in \
        shadow.
        """,
      labels: ["app", "environment", "cause"], seriesLimit: 1_024)
    states = metrics.gauge(
      "switchyard_guard_state",
      help: "Of apps that are answered by us alone: 0 too few customers were compared, 1 sound, 2 breached.",
      labels: ["app", "environment"])
  }

  package func run() async throws {
    var open: [Scope: StepBack] = [:]
    while !Task.isCancelled {
      do { try await look(&open) } catch {
        // What cannot be known holds.
        if !Task.isCancelled { logger.warning("the guard could not look", metadata: ["error": "\(error)"]) }
      }
      try? await Task.sleep(for: every)
    }
    guard !open.isEmpty else { return }
    // No other process can tell of these. While the database does not answer, the process ends all the same.
    let left = await InTime.run(within: .seconds(5), otherwise: open) { [self, open] in
      var left = open
      try? await settle(&left)
      return left
    }
    for step in left.values { noteUnknown(step.news) }
  }

  private struct Found: Sendable {
    let app: App
    let flag: Flag
    /// Nil in `shadow`, where nothing is to be taken back.
    let verdict: GuardRule.Verdict?

    var scope: Scope { Scope(app: app.id, environment: flag.environment) }
    var labels: [String] { [app.bundleID, flag.environment.rawValue] }
  }

  /// - Parameter open: steps back of which this process does not know yet whether they were committed.
  private func look(_ open: inout [Scope: StepBack]) async throws {
    try await settle(&open)
    let now = clock.now()
    let found = try await pool.read { session throws(DatabaseError) in
      let flags = try FlagTable.all(in: session).filter { $0.value.stage >= .shadow }
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
        let figures = try GuardFigures.read(scope, by: rule, since: flag.changedAt, at: now, in: session)
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
        do { try await takeBack(one, for: breach, at: now, &open) } catch {
          // The other apps do not wait for this one, which is tried again.
          guard !Task.isCancelled else { return }
          logger.error(
            "the guard could not take an app back",
            metadata: ["app": "\(one.app.bundleID)", "environment": "\(labels[1])", "error": "\(error)"])
        }
      }
    }
    try await settle(&open)
  }

  private func takeBack(
    _ found: Found, for breach: GuardBreach, at now: Milliseconds, _ open: inout [Scope: StepBack]
  ) async throws {
    let (app, environment) = (found.app.bundleID, found.flag.environment.rawValue)
    let news = TakenBack(
      app: app, environment: environment, epoch: found.flag.epoch, breach: breach,
      from: Move.name(found.flag.stage, found.flag.share), at: now)
    // Known before the answer to COMMIT, which may be lost.
    let noted = Mutex<Int64?>(nil)
    do throws(DatabaseError) {
      let entry = try await pool.transaction { session throws(DatabaseError) -> Int64? in
        noted.withLock { $0 = nil }
        guard try FlagTable.advance(found.scope, from: found.flag, to: .shadow, at: now, in: session) else {
          return nil
        }
        let entry = try AuditTable.note(
          Self.action, of: app, by: "guard", because: "\(environment): \(news.text)", at: now, in: session)
        noted.withLock { $0 = entry }
        return entry
      }
      guard entry != nil else { return }
    } catch {
      guard error.code == .commitOutcomeUnknown else { throw error }
      // Without an entry it found that somebody else had changed the stage, and wrote nothing.
      guard let entry = noted.withLock({ $0 }) else { return }
      // It found the epoch unchanged, so an earlier attempt of this process was not committed.
      open[found.scope] = StepBack(news: news, stage: found.flag.stage, entry: entry)
      return noteUnknown(news)
    }
    open[found.scope] = nil
    tell(news, of: found.flag.stage)
  }

  /// Finds out by reading what became of steps back whose COMMIT got no answer, and tells of those that were committed.
  ///
  /// While the stage is as it was, a step stays open: its COMMIT may be under way. The next look tries again, and waits
  /// for the row.
  private func settle(_ open: inout [Scope: StepBack]) async throws {
    guard !open.isEmpty else { return }
    let steps = open
    let settled = try await pool.read { session throws(DatabaseError) -> [Scope: Bool] in
      // The flags first: the audit entry of a change that shows in them can be read from then on.
      let flags = try FlagTable.all(in: session)
      var settled: [Scope: Bool] = [:]
      for (scope, step) in steps where flags[scope]?.epoch != step.news.epoch {
        settled[scope] = try step.isCommitted(in: session)
      }
      return settled
    }
    for (scope, isCommitted) in settled {
      guard let step = open.removeValue(forKey: scope) else { continue }
      if isCommitted {
        tell(step.news, of: step.stage)
      } else {
        logger.notice(
          "another change of the stage came before the guard's",
          metadata: ["app": "\(step.news.app)", "environment": "\(step.news.environment)"])
      }
    }
  }

  /// Counts, logs and announces what is committed; once for each step back.
  private func tell(_ news: TakenBack, of stage: Stage) {
    breaches[[news.app, news.environment, news.breach.cause]].increment()
    logger.error(
      "the guard took an app back to shadow",
      metadata: [
        "app": "\(news.app)", "environment": "\(news.environment)", "stage": "\(stage.rawValue)",
        "cause": "\(news.breach.cause)", "figures": "\(news.breach.text)", "runbook": "\(TakenBack.runbook)",
      ])
    announce(news)
  }

  private func noteUnknown(_ news: TakenBack) {
    logger.warning(
      "the guard does not know whether it took an app back",
      metadata: ["app": "\(news.app)", "environment": "\(news.environment)"])
  }
}

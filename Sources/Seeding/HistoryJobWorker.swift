package import AppStore
package import Database
package import Ledger
import Purchases
package import Runtime
import Signing
import Synchronization
package import Time

/// Asks Apple about every id that arrived: one history for each customer, and the statuses of their subscriptions.
///
/// Within the budget, behind everybody who waits for an answer. Any number of processes may run it on one ledger; one
/// that is killed leaves leases that end, and what it had recorded stays. Without credentials it does nothing.
package final class HistoryJobWorker: Service {
  package struct Settings: Sendable {
    /// Longer than any look-up takes; what a process has leased that is gone is free much sooner (`ProcessTable.silence`).
    package var lease = Interval.minutes(15)
    /// Host and process id, for people; nil where nobody need know.
    package var processName: String?
    /// Customers of one app and environment who are asked about at once.
    package var concurrency = 192
    /// Customers of one app and environment who are asked about at once because of what unsigned messages reported.
    package var claimedConcurrency = 32
    /// Customers of one app and environment who are asked about at once because of ids that nothing proves.
    package var unverifiedConcurrency = 16
    /// Bytes of answers that are read and recorded at once; half of what the group commit takes.
    ///
    /// Of look-ups because of unsigned messages an eighth as many, and of ids that nothing proves as well.
    package var answerBytes = 32 << 20
    /// How long look-ups that have begun may take when they are to stop; the others stop at once.
    ///
    /// A part of what a whole service has for its stop (`ServiceGroup`).
    package var grace = Interval.seconds(5)

    package init() {}
  }

  /// The apps that Apple may be asked about, read anew every few seconds.
  package typealias Access =
    @Sendable () async throws -> (access: [AppleAccess], unopened: [CredentialTable.Unopened])

  /// An app in one environment.
  struct APIScope: Hashable {
    let app: App.ID
    let environment: APIEnvironment

    var scope: AppScope { AppScope(app: app, environment: Environment(environment)) }
  }

  /// One line of work: one of the queues of an app in one environment, which share nothing but Apple's limits.
  struct HistoryJobQueue: Hashable {
    let place: APIScope
    let queue: HistoryJobTable.Queue
  }

  struct State {
    var access: [App.ID: AppleAccess] = [:]
    var unopened: Set<CredentialTable.Unopened> = []
    var lanes: Set<HistoryJobQueue> = []
    /// Customers who are leased by a lane and not settled.
    var busy: [HistoryJobQueue: Int] = [:]
    var paused: [HistoryJobQueue: HistoryJobDecision.Pause] = [:]
    /// Until when it need not be looked again whether Apple accepts the app.
    var accepted: [APIScope: Timestamp] = [:]
    /// When this process last said that it is alive, and from when others' silence means something.
    var lastBeat: Interval?
    var hearsFrom = Interval.milliseconds(0)
  }

  let pool: Pool
  let client: AppStoreClient
  /// Each with room of its own for answers.
  private let lookUps: [HistoryJobTable.Queue: HistoryFetch]
  private let access: Access
  let settings: Settings
  private let notes: HistoryJobUpdates
  let metrics: HistoryJobMetrics
  let clock: WallClock
  let pacing: TimeSource
  let logger: Logger
  let state = Mutex(State())
  /// By which its leases are known while it is alive.
  private let process = [UInt8].random(count: 16)
  let waitEnd = WaitCancellation()

  private static let refreshPause = Interval.seconds(5)
  /// How often it says that it is alive, and looks for leases of those who are not.
  private static let beat = Duration.seconds(1)
  private static let acceptanceKept = Interval.minutes(10)
  /// A history that is no older is news enough for somebody who waits.
  package static let recent = Interval.seconds(60)

  package init(
    pool: Pool, client: AppStoreClient, read: @escaping HistoryFetch.Read, access: @escaping Access,
    settings: Settings = Settings(), metrics: HistoryJobMetrics, clock: WallClock, pacing: TimeSource = .system,
    logger: Logger
  ) {
    self.pool = pool
    self.client = client
    func lookUp(answerBytes: Int) -> HistoryFetch {
      HistoryFetch(client: client, read: read, room: AsyncByteSemaphore(bytes: answerBytes))
    }
    lookUps = [
      .requested: lookUp(answerBytes: settings.answerBytes), .claimed: lookUp(answerBytes: settings.answerBytes / 8),
      .unverified: lookUp(answerBytes: settings.answerBytes / 8),
    ]
    self.access = access
    self.settings = settings
    notes = HistoryJobUpdates(pool: pool, clock: clock, logger: logger)
    self.metrics = metrics
    self.clock = clock
    self.pacing = pacing
    self.logger = logger
  }

  /// Asks until cancelled; what has begun is then finished within the grace, and all other leases are given back.
  package func run() async throws {
    await withHeartbeat { await runLanes() }
  }

  private func runLanes() async {
    await withDiscardingTaskGroup { group in
      var countedNext = pacing.elapsed()
      while !Task.isCancelled {
        await refresh()
        for lane in lanesToStart() { group.addTask { await self.run(lane) } }
        let begun = pacing.elapsed()
        if begun >= countedNext {
          await measure()
          // Counting takes longer the more ids there are: it is to be a hundredth of the database's work at most.
          let took = pacing.elapsed().milliseconds - begun.milliseconds
          countedNext = .milliseconds(begun.milliseconds + 100 * took)
        }
        try? await pacing.sleep(Self.refreshPause)
      }
      group.cancelAll()
    }
  }

  /// Asks about everybody who is due now, and waits for all of it; how many customers were asked about.
  ///
  /// When the task is cancelled, what has begun is finished within the grace and everybody else is given back.
  package func round() async throws -> Int {
    try await withHeartbeat { try await roundOfAll() }
  }

  private func roundOfAll() async throws -> Int {
    await refresh()
    var count = 0
    for place in places {
      if Task.isCancelled { break }
      await beginRenewalChecks(in: place)
      for queue in [HistoryJobTable.Queue.claimed, .requested, .unverified] {
        count += try await round(in: HistoryJobQueue(place: place, queue: queue))
      }
    }
    return count
  }

  /// Runs `body`, and says meanwhile that this process is alive, so that nobody else takes what it has leased.
  private func withHeartbeat<Value: Sendable, Failure: Error>(
    _ body: @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await tellAlive()
    let result = await withTaskGroup(of: Void.self) { group -> Result<Value, Failure> in
      group.addTask {
        while !Task.isCancelled {
          try? await Task.sleep(for: Self.beat)
          if !Task.isCancelled { await self.tellAlive() }
        }
      }
      defer { group.cancelAll() }
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    try? await withCancellationShield { [pool, process] in
      try await pool.read { session throws(DatabaseError) in try ProcessTable.remove(process, in: session) }
    }
    return try result.get()
  }

  private func tellAlive() async {
    let (process, name) = (process, settings.processName)
    let (now, silence) = (clock.now(), ProcessTable.silence)
    let end = now + settings.lease - silence
    do {
      try await pool.read { session throws(DatabaseError) in try ProcessTable.beat(process, name: name, in: session) }
      guard hearsOthers(silence) else { return }
      let freed = try await pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.freeLeasesOfTheDead(endingBefore: end, at: now, in: session)
      }
      if freed > 0 { logger.notice("lookups of a stopped process were taken over", metadata: ["ids": "\(freed)"]) }
    } catch {
      if !Task.isCancelled {
        logger.debug("this process could not say that it is alive", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Whether others' silence means that they are gone: after a gap of its own they may only not have been able to speak.
  private func hearsOthers(_ silence: Interval) -> Bool {
    let now = pacing.elapsed()
    return state.withLock { state in
      if let last = state.lastBeat, now.milliseconds - last.milliseconds > silence.milliseconds {
        state.hearsFrom = .milliseconds(now.milliseconds + silence.milliseconds)
      }
      state.lastBeat = now
      return now.milliseconds >= state.hearsFrom.milliseconds
    }
  }

  private var places: [APIScope] { state.withLock { $0.access.values.flatMap { Self.places(of: $0) } } }

  /// Reads the credentials.
  func refresh() async {
    do {
      let (access, unopened) = try await access()
      let (unheardOf, changed) = state.withLock { state in
        let unheardOf = Set(unopened).subtracting(state.unopened)
        state.unopened = Set(unopened)
        let changed = access.filter { new in
          state.access[new.app.id].map { $0.credentials.key != new.credentials.key } ?? false
        }
        for access in changed { state.paused = state.paused.filter { $0.key.place.app != access.app.id } }
        state.access = Dictionary(access.map { ($0.app.id, $0) }) { first, _ in first }
        return (unheardOf, changed)
      }
      for place in changed.flatMap(Self.places) { try await endAccessPause(in: place) }
      for key in unheardOf {
        logger.error(
          "a key of the App Store Server API cannot be read; nothing is asked with it",
          metadata: ["key": "\(key.name)", "reason": "\(key.reason)"])
      }
    } catch {
      if !Task.isCancelled {
        logger.warning(
          "the credentials could not be read; continuing with the known ones", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Has everybody asked about now who waits because Apple did not let the app in: its key is another one.
  private func endAccessPause(in place: APIScope) async throws {
    let now = clock.now()
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try HistoryJobTable.bringForward(
        in: place.scope, dueBefore: now + HistoryJobDecision.accessPause, at: now, session)
    }
  }

  func lease(_ selection: HistoryJobTable.Selection, limit: Int) async throws -> HistoryJobTable.Lease {
    let (now, owner) = (clock.now(), WorkOwner.next(of: process))
    let end = now + settings.lease
    return try await pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.lease(selection, limit: limit, until: end, owner: owner, at: now, in: session)
    }
  }

  /// Asks about a customer within the grace; false when they were given back instead.
  @discardableResult
  func ask(about customer: LeasedHistoryJob, in place: APIScope, _ priority: RateLimiter.Priority) async -> Bool {
    guard let access = state.withLock({ $0.access[place.app] }) else {
      // Its key or its stage went between the lease and here.
      await notes.settle(customer, .released(until: clock.now()))
      return false
    }
    let grace = GracefulCancellation(settings.grace, pacing)
    let wasAsked = Mutex(false)
    await grace.run {
      let isSettled = await self.ask(about: customer, in: place, access, priority, grace)
      wasAsked.withLock { $0 = isSettled }
    }
    return wasAsked.withLock { $0 }
  }

  /// Asks about a customer, and notes what came of it; false when they were given back.
  private func ask(
    about customer: LeasedHistoryJob, in place: APIScope, _ access: AppleAccess, _ priority: RateLimiter.Priority,
    _ grace: GracefulCancellation
  ) async -> Bool {
    var customer = customer
    // A message that reports a change names the environment; nowhere else is asked because of a claim.
    let route = EnvironmentSearch(
      known: customer.isClaimedAlone ? place.environment : nil, hint: place.environment,
      unknownIn: customer.unknownIn.flatMap { APIEnvironment($0) })
    let begin: AppStoreClient.Beginning = { [customer, notes] in
      guard grace.begin() else { return false }
      // Held back longer than the lease could know, others may have asked meanwhile.
      let isAtOnce = priority == .interactive || self.clock.now() - customer.leasedAt <= Self.atOnce
      return customer.isBegun && isAtOnce ? true : await notes.begin(customer)
    }
    guard let lookUp = lookUps[priority.queue] else { return false }
    let outcome = await lookUp.run(
      customer.subject, of: access, along: route, resumingAt: customer.revision, priority, if: begin)
    if case .failed(let failure) = outcome, let environment = failure.unknownIn {
      customer.unknownIn = Environment(environment)
    }
    if Task.isCancelled {
      // Whatever ended it, it was not Apple: the attempt does not count.
      if case .found(let history) = outcome {
        await notes.settle(customer, .stored(history))
        return true
      }
      await notes.settle(customer, .released(until: clock.now()))
      return false
    }
    let verdict = HistoryJobDecision(
      outcome, attempt: customer.attempt, isAccepted: await isAccepted(outcome, access),
      jitter: Double(pacing.random(1_000)) / 1_000, at: clock.now())
    metrics.customers[access.app.bundleID, place.environment.rawValue, outcome.name].increment()
    if priority == .claimed {
      metrics.claimedLookUps[access.app.bundleID, place.environment.rawValue, outcome.name].increment()
    }
    if let pause = verdict.pause { note(pause, after: outcome, access, place, priority) }
    await notes.settle(customer, verdict.settlement)
    return true
  }

  /// Whether Apple accepts the app, where that decides what an empty answer means.
  private func isAccepted(_ outcome: HistoryFetch.Outcome, _ access: AppleAccess) async -> Bool {
    guard case .empty(let environment) = outcome, let environment = APIEnvironment(environment) else { return true }
    let (place, now) = (APIScope(app: access.app.id, environment: environment), clock.now())
    if state.withLock({ $0.accepted[place].map { $0 > now } ?? false }) { return true }
    let diagnoses = await client.check(access.credentials)
    guard diagnoses.contains(where: { $0.environment == environment && $0.acceptsKey }) else { return false }
    state.withLock { $0.accepted[place] = now + Self.acceptanceKept }
    return true
  }

  /// Keeps everybody waiting whom the failure would meet as well.
  ///
  /// Apple's word is for all lanes of the app; that one lane has used up its share says nothing of the others.
  private func note(
    _ pause: HistoryJobDecision.Pause, after outcome: HistoryFetch.Outcome, _ access: AppleAccess, _ place: APIScope,
    _ priority: RateLimiter.Priority
  ) {
    var (place, queues) = (place, HistoryJobTable.Queue.allCases)
    if case .failed(let failure) = outcome {
      if let environment = failure.environment { place = APIScope(app: place.app, environment: environment) }
      if failure.code == .overBudget { queues = [priority.queue] }
    }
    let (lanes, now) = (queues.map { [place] in HistoryJobQueue(place: place, queue: $0) }, clock.now())
    let isNew = state.withLock { state in
      let known = lanes.compactMap { state.paused[$0] }.max { $0.until < $1.until }
      for lane in lanes where (state.paused[lane]?.until ?? now) <= pause.until { state.paused[lane] = pause }
      return known.map { $0.until <= now } ?? true
    }
    guard isNew else { return }
    logger.warning(
      "lookups pause",
      metadata: [
        "app": "\(access.app.bundleID)", "environment": "\(place.environment.rawValue)", "reason": "\(pause.reason)",
        "until": "\(pause.until.iso8601)",
      ])
  }

  // MARK: Figures

  private func measure() async {
    let now = clock.now()
    guard
      let depths = try? await pool.read({ session throws(DatabaseError) in
        _ = try RateLimitTable.purge(at: now, in: session)
        return (
          work: try HistoryJobTable.depths(in: session), claims: try UnconfirmedChangeTable.depths(in: session),
          checks: try RenewalCheckTable.counts(in: session)
        )
      })
    else { return }
    let (access, paused) = state.withLock { ($0.access.values, $0.paused) }
    for access in access {
      for place in Self.places(of: access) {
        let names = [access.app.bundleID, place.environment.rawValue]
        let depth = depths.work[place.scope]?[.history] ?? [:]
        let claims = depths.claims[place.scope]
        metrics.claimedOpen[names].record(claims?.open ?? 0)
        metrics.unverifiedOpen[names].record(depths.work[place.scope]?[.unverifiedID]?[.waiting] ?? 0)
        metrics.claimedOldestSeconds[names].record(
          claims.map { Double(max(0, (now - $0.oldest).milliseconds)) / 1_000 } ?? 0)
        metrics.renewalChecksPlanned[names].record(depths.checks[place.scope] ?? 0)
        for state in HistoryJobTable.State.allCases { metrics.ids[names + [state.name]].record(depth[state] ?? 0) }
        let forecast = client.forecast(
          depth[.waiting] ?? 0, of: .getTransactionHistory, app: access.app.bundleID, in: place.environment)
        metrics.secondsLeft[names].record(Double(forecast.length.milliseconds) / 1_000)
        let lane = HistoryJobQueue(place: place, queue: .requested)
        metrics.paused[names].record(paused[lane].map { $0.until > now } ?? false ? 1 : 0)
      }
    }
  }
}

import AppStore
import Database
import Ledger
import Runtime
import Synchronization
import Time

/// In bulk: each lane leases whom it asks about, and never more than it soon can.
extension HistoryJobWorker {
  private static let (shortPause, longPause) = (Interval.milliseconds(20), Interval.milliseconds(500))
  /// How late a renewal check may begin.
  private static let betweenChecks = Interval.seconds(5)
  /// No more is leased than is asked about in this time.
  private static let leasedAhead = 30.0
  /// The same for what nothing proves: what is reported of a customer who is leased already is asked about once more, and
  /// what becomes proven meanwhile is to be asked about in its own lane.
  private static let claimsLeasedAhead = 2.0
  /// Where Apple is asked about all that is leased in this time, nobody need take it over: it is noted as begun.
  static let atOnce = Interval.milliseconds(100)

  /// Whoever calls it starts the lanes: nobody else may count a lane that does not run.
  func lanesToStart() -> [HistoryJobQueue] {
    state.withLock { state in
      let lanes = state.access.values.flatMap { Self.places(of: $0) }.flatMap { place in
        HistoryJobTable.Queue.allCases.map { HistoryJobQueue(place: place, queue: $0) }
      }.filter { !state.lanes.contains($0) }
      state.lanes.formUnion(lanes)
      return lanes
    }
  }

  static func places(of access: AppleAccess) -> [APIScope] {
    access.environments.map { APIScope(app: access.app.id, environment: $0) }
  }

  /// Works in one lane for as long as the app has a key and is in `record` there.
  func run(_ lane: HistoryJobQueue) async {
    await withDiscardingTaskGroup { group in
      var checksAt = clock.now()
      while !Task.isCancelled, isManned(lane.place) {
        if lane.queue == .requested, clock.now() >= checksAt {
          await beginRenewalChecks(in: lane.place)
          checksAt = clock.now() + Self.betweenChecks
        }
        do {
          let leased = try await lease(in: lane)
          for customer in leased { group.addTask { await self.ask(about: customer, from: lane) } }
          // So many rows were leased, of which a customer has several: there may be room for more.
          if !leased.isEmpty { continue }
        } catch {
          if !Task.isCancelled {
            logger.warning("work could not be leased; it is tried again", metadata: ["error": "\(error)"])
          }
        }
        let isBusy = state.withLock { $0.busy[lane, default: 0] > 0 }
        try? await pacing.sleep(isBusy ? Self.shortPause : Self.longPause)
      }
      group.cancelAll()
    }
    state.withLock { _ = $0.lanes.remove(lane) }
  }

  /// Whether the app has a key and is in `record` there.
  private func isManned(_ place: APIScope) -> Bool {
    state.withLock { $0.access[place.app].map(Self.places)?.contains(place) ?? false }
  }

  /// Asks in one lane about everybody who is due, with the credentials that are known; how many customers.
  ///
  /// Those who were given back because the task was cancelled do not count.
  func round(in lane: HistoryJobQueue) async throws -> Int {
    let leased = try await lease(in: lane)
    return await withTaskGroup(of: Bool.self) { group in
      for customer in leased { group.addTask { await self.ask(about: customer, from: lane) } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  /// Asks about a customer who was leased for it; false when they were given back.
  @discardableResult
  private func ask(about customer: LeasedHistoryJob, from lane: HistoryJobQueue) async -> Bool {
    let wasAsked = await ask(about: customer, in: lane.place, lane.priority)
    state.withLock { $0.busy[lane, default: 0] -= 1 }
    return wasAsked
  }

  private func lease(in lane: HistoryJobQueue) async throws -> [LeasedHistoryJob] {
    let (now, place) = (clock.now(), lane.place)
    let (access, busy, isPaused) = state.withLock { state in
      (state.access[place.app], state.busy[lane, default: 0], state.paused[lane].map { $0.until > now } ?? false)
    }
    guard let access, !isPaused else { return [] }
    let rate = client.forecast(
      1, of: .getTransactionHistory, app: access.app.bundleID, in: place.environment
    ).perSecond
    let (concurrency, ahead) =
      switch lane.queue {
      case .requested: (settings.concurrency, Self.leasedAhead)
      case .claimed: (settings.claimedConcurrency, Self.claimsLeasedAhead)
      // Of its share of the rate beside others.
      case .unverified: (settings.unverifiedConcurrency, Self.claimsLeasedAhead / 10)
      }
    let most = min(concurrency, max(1, Int(min(rate * ahead, 1e6))))
    // Leasing costs the same for many: it waits until half of them have ended.
    let free = most - busy
    guard free > most / 2 else { return [] }
    let goesAtOnce = client.isOpen(
      to: free, within: Self.atOnce, of: .getTransactionHistory, app: access.app.bundleID, in: place.environment)
    let selection = HistoryJobTable.Selection(place.scope, lane.queue, goesAtOnce: goesAtOnce)
    var leased: HistoryJobTable.Lease
    // Where all that was due needs no asking, more may be due.
    repeat {
      leased = try await lease(selection, limit: free)
    } while leased.customers.isEmpty && leased.settled > 0 && !Task.isCancelled
    let customers = leased.customers
    state.withLock { $0.busy[lane, default: 0] += customers.count }
    return customers
  }
}

extension HistoryJobWorker.HistoryJobQueue {
  var priority: RateLimiter.Priority {
    switch queue {
    case .requested: .bulk
    case .claimed: .claimed
    case .unverified: .unverified
    }
  }
}

extension RateLimiter.Priority {
  var queue: HistoryJobTable.Queue {
    switch self {
    case .interactive, .begun, .bulk: .requested
    case .claimed: .claimed
    case .unverified: .unverified
    }
  }
}

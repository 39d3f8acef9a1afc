import AppStore
import Database
package import Ledger
package import Purchases
import Runtime
import Synchronization
package import Time

/// For somebody who waits: asked about at once, before everybody who is asked about in bulk.
extension HistoryJobWorker {
  /// Asks about these ids at once, before everybody who is asked about in bulk; how each stands then.
  ///
  /// Ids that nothing proves (`queue` is `unverified`) are asked about before the others of that kind, within its share of
  /// the budget.
  ///
  /// What has not begun after `limit` is done later, and what has begun is waited for, at most for the grace: it would
  /// be asked for twice. Nil when there is no key of the app.
  package func lookUp(
    _ ids: [String], of app: App, in environment: Environment, _ queue: HistoryJobTable.Queue = .requested,
    within limit: Interval
  ) async throws -> [String: HistoryJobTable.State]? {
    guard let environment = APIEnvironment(environment) else { return nil }
    let lane = HistoryJobQueue(place: APIScope(app: app.id, environment: environment), queue: queue)
    if state.withLock({ $0.access[app.id] }) == nil { await refresh() }
    guard state.withLock({ $0.access[app.id] }) != nil else { return nil }
    let now = clock.now()
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try HistoryJobTable.askAgain(
        ids, as: queue.kindOfIDs, in: lane.place.scope, unlessDoneSince: now - Self.recent, at: now, in: session)
    }
    return try await withThrowingTaskGroup(of: [String: HistoryJobTable.State]?.self) { group in
      group.addTask { try await self.finish(ids, in: lane) }
      group.addTask {
        try? await self.pacing.sleep(limit)
        return nil
      }
      group.addTask {
        await self.waitEnd.untilOver()
        return nil
      }
      if let states = try await group.next() ?? nil {
        group.cancelAll()
        return states
      }
      // Their end is waited for: they finish what has begun, and give back what else they leased. Their errors are passed
      // over: a wait for a connection that was cancelled says nothing of how the ids stand.
      group.cancelAll()
      while await group.nextResult() != nil {}
      return try await self.states(of: ids, in: lane)
    }
  }

  /// Ends all waits now and from now on, as their time does: what has begun is finished within the grace, the rest is
  /// done later.
  ///
  /// For a service that stops: who waits would hold it up, and a look-up that is cut off is not given back.
  package func endWaits() { waitEnd.declare() }

  /// Whether there is a key of the app, so that somebody is asked about.
  package func isAsking(about app: App) -> Bool { state.withLock { $0.access[app.id] != nil } }

  /// Why nobody of the app is asked about for a while; nil when that is not so.
  package func pause(of app: App, in environment: Environment) -> HistoryJobDecision.Pause? {
    guard let first = APIEnvironment(environment) else { return nil }
    let now = clock.now()
    // Who is not known in the first is asked for in the other.
    let pauses = state.withLock { state in
      [first, first.other].compactMap {
        state.paused[HistoryJobQueue(place: APIScope(app: app.id, environment: $0), queue: .requested)]
      }
    }
    return pauses.first { $0.until > now }
  }

  /// Asks about the ids, or waits for whoever does, until none of them waits; how they stand.
  ///
  /// Each is asked about once: what Apple does not answer now, or not in a way that counts, is for later.
  private func finish(_ ids: [String], in lane: HistoryJobQueue) async throws -> [String: HistoryJobTable.State] {
    var unasked = Set(ids)
    while true {
      let leased =
        unasked.isEmpty
        ? []
        : try await lease(
          HistoryJobTable.Selection(lane.place.scope, lane.queue, subjects: unasked.sorted()), limit: unasked.count
        ).customers
      unasked.subtract(leased.map(\.subject))
      let priority = lane.queue == .requested ? .interactive : lane.priority
      await withDiscardingTaskGroup { group in
        for customer in leased { group.addTask { await self.ask(about: customer, in: lane.place, priority) } }
      }
      let states = try await states(of: ids, in: lane)
      if !states.values.contains(.waiting) || Task.isCancelled { return states }
      try? await pacing.sleep(.milliseconds(100))
    }
  }

  private func states(of ids: [String], in lane: HistoryJobQueue) async throws -> [String: HistoryJobTable.State] {
    try await pool.read { session throws(DatabaseError) in
      try HistoryJobTable.states(of: ids, as: lane.queue.kindOfIDs, in: lane.place.scope, session)
    }
  }
}

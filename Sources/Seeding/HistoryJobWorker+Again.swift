import AppStore
import Database
package import Ledger
package import Purchases
import Synchronization
package import Time

/// For whoever needs news of customers and can wait a while: they are asked about in bulk, as everybody is.
extension HistoryJobWorker {
  /// How long to wait for others without any of the ids being settled.
  private static let patience = Interval.minutes(1)
  /// Ids of one statement.
  private static let idsAtOnce = 1_000

  /// Makes work of the ids; committed when it returns, so that they are asked about whatever happens to this process.
  ///
  /// - Parameters:
  ///   - queue: `claimed` for ids that nothing signed names.
  ///   - recent: what was settled since then, in whatever way, is news enough.
  package func askAgain(
    _ ids: [String], of app: App, in environment: Environment, _ queue: HistoryJobTable.Queue = .requested,
    unlessDoneSince recent: Timestamp
  ) async throws {
    let (scope, now) = (AppScope(app: app.id, environment: environment), clock.now())
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try HistoryJobTable.askAgain(
        ids, as: queue.kindOfIDs, in: scope, unlessDoneSince: recent, isPatient: true, at: now, in: session)
    }
  }

  /// How the ids stand as soon as none of them waits, or waiting is no use: what waits then is asked about later.
  ///
  /// In a running service its lanes ask; where none runs this does. Ends at once when Apple or the budget says later,
  /// after a minute in which nothing moved, after `limit`, and when the task is cancelled and what had begun has ended.
  package func settled(
    _ ids: [String], of app: App, in environment: Environment, _ queue: HistoryJobTable.Queue = .requested,
    within limit: Interval
  ) async throws -> [String: HistoryJobTable.State] {
    guard let environment = APIEnvironment(environment) else { return [:] }
    let lane = HistoryJobQueue(place: APIScope(app: app.id, environment: environment), queue: queue)
    var (states, waiting): ([String: HistoryJobTable.State], [String]) = ([:], Set(ids).sorted())
    let begun = pacing.elapsed()
    var moved = begun
    await refresh()
    while !waiting.isEmpty, !Task.isCancelled {
      let (before, isManned) = (waiting.count, has(lane))
      let asked = isManned ? 0 : try await round(in: lane)
      let standings = try await standings(of: waiting, in: lane)
      waiting = []
      for (id, standing) in standings {
        if case .settled(let state) = standing {
          states[id] = state
        } else {
          waiting.append(id)
        }
      }
      let now = pacing.elapsed()
      if asked > 0 || waiting.count < before { moved = now }
      let isMoving =
        asked > 0 || standings.values.contains(.leased)
        || isManned && standings.values.contains(.due) && !isPaused(lane)
      guard isMoving, now.isWithin(limit, of: begun), now.isWithin(Self.patience, of: moved) else { break }
      if asked == 0, !waiting.isEmpty { try? await pacing.sleep(.milliseconds(250)) }
    }
    for id in waiting { states[id] = .waiting }
    return states
  }

  private func has(_ lane: HistoryJobQueue) -> Bool { state.withLock { $0.lanes.contains(lane) } }

  private func isPaused(_ lane: HistoryJobQueue) -> Bool {
    let now = clock.now()
    return state.withLock { $0.paused[lane].map { $0.until > now } ?? false }
  }

  private func standings(of ids: [String], in lane: HistoryJobQueue) async throws -> [String: HistoryJobTable.Progress]
  {
    let (scope, kind, now) = (lane.place.scope, lane.queue.kindOfIDs, clock.now())
    return try await pool.read { session throws(DatabaseError) in
      var standings: [String: HistoryJobTable.Progress] = [:]
      for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
        let some = Array(ids[start..<min(start + Self.idsAtOnce, ids.count)])
        standings.merge(try HistoryJobTable.standings(of: some, as: kind, in: scope, at: now, session)) { _, new in new
        }
      }
      return standings
    }
  }
}

extension Interval {
  /// Of times since some fixed moment.
  fileprivate func isWithin(_ limit: Interval, of start: Interval) -> Bool {
    milliseconds - start.milliseconds < limit.milliseconds
  }
}

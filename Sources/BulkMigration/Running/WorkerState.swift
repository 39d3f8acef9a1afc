import Ledger
import Synchronization
import Time

/// What one process knows of a job that it works on: how fast it goes, and how fast it may go.
final class WorkerState: Sendable {
  private struct State {
    var job: MigrationJob
    /// Parts whose files this process does not see.
    var unseen: [Int: Interval] = [:]
    var rows = RowRateLimiter()
    /// Customers who may still be asked about, and as of when.
    var calls: (left: Double, at: Interval)?
    /// Ids that end in a second, as of late; it rises at once and falls slowly, so that enough ids are handed out.
    var rate = 0.0
    var turnedAt: Interval?
  }

  private let state: Mutex<State>

  /// How many ids of an app and environment may be asked about at once: enough for three seconds.
  ///
  /// A pause does not take them back, news of others waits behind them, and each turn looks at all of them. Ids that need no
  /// call end at once, however seldom Apple may be asked: a high rate says little of those that come next.
  private static let (leastBacklog, mostBacklog, backlogSeconds) = (512, 4_096, 3.0)

  init(_ job: MigrationJob) { state = Mutex(State(job: job)) }

  var job: MigrationJob { state.withLock { $0.job } }

  func note(_ job: MigrationJob) { state.withLock { $0.job = job } }

  func notSeen(_ part: Int, until end: Interval) { state.withLock { $0.unseen[part] = end } }

  func unseen(at now: Interval) -> [Int] {
    state.withLock { state in
      state.unseen = state.unseen.filter { $0.value > now }
      return state.unseen.keys.sorted()
    }
  }

  /// How long so many rows have to wait.
  func rowPause(_ rows: Int, at now: Interval) -> Interval {
    state.withLock { $0.rows.pause(rows, perSecond: $0.job.settings.rowsPerSecond, at: now) }
  }

  var backlog: Int {
    state.withLock { state in
      let backlog = max(Self.leastBacklog, min(Self.mostBacklog, Int(state.rate * Self.backlogSeconds)))
      // What waits while nobody can be asked is asked about all at once afterwards.
      return state.job.settings.callsPerSecond.map { min(backlog, max(16, 10 * $0)) } ?? backlog
    }
  }

  /// How many customers may be asked about now; nil: any number.
  func allowance(at now: Interval) -> Int? {
    state.withLock { state in
      guard let rate = state.job.settings.callsPerSecond else { return nil }
      let seconds = state.calls.map { Double(now.milliseconds - $0.at.milliseconds) / 1_000 } ?? 0
      // Two at least: with less than one nobody is asked about, and what was saved until then must not be lost.
      let left = min(max(2, Double(rate)), (state.calls?.left ?? 0) + seconds * Double(rate))
      state.calls = (left, now)
      return Int(left)
    }
  }

  func note(_ turn: HistoryJobScheduler.Turn, at now: Interval) {
    state.withLock { state in
      state.calls?.left -= Double(turn.calls)
      // What another process hands out is not saved up here.
      if turn.isElsewhere { state.calls = nil }
      if let before = state.turnedAt, now.milliseconds > before.milliseconds {
        let rate = Double(turn.ended) * 1_000 / Double(now.milliseconds - before.milliseconds)
        state.rate = max(rate, state.rate * 0.9 + rate * 0.1)
      }
      state.turnedAt = now
    }
  }
}

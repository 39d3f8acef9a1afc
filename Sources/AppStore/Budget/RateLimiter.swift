import Runtime
import Synchronization
package import Time

/// Where calls wait for their turn: for each key one line, interactive calls first, then what was begun in bulk, then bulk.
///
/// Calls that unsigned messages cause have a share of their own, and so have calls for ids that nothing proves: they go
/// before bulk, begun or not, but take one call in four and one in ten at most while others wait, so that whoever can make
/// such calls can neither stop the others nor be stopped by them.
///
/// Only the first in line sleeps; the others wait until they are first. So an interactive call never waits behind bulk
/// for more than the one slot that was taken already.
package final class RateLimiter: Sendable {
  package enum Priority: Sendable, CaseIterable {
    /// Somebody waits for the answer.
    case interactive
    /// The rest of what was begun in bulk: whoever waits for its end does not wait behind what has not begun.
    case begun
    case bulk
    /// A message that nobody signed wants it confirmed.
    case claimed
    /// A back end handed in an id that nothing proves.
    case unverified

    /// How many other calls go for each of these, while both wait; nil: as many as may.
    package var othersForEach: Int? {
      switch self {
      case .interactive, .begun, .bulk: nil
      case .claimed: 3
      case .unverified: 9
      }
    }
  }

  private struct Line {
    var budget: RateLimiterState
    /// For how long the share counts; nil before the first was asked for.
    var lease: Range<Timestamp>?
    var bulkFrom: Timestamp?
    var isRenewing = false
    var waiting: [Priority: [Int]] = [:]
    /// Those who are not first and sleep until they are.
    var asleep: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Other calls that go before the next of these.
    var owed: [Priority: Int] = [:]

    var first: Int? {
      let due = [Priority.claimed, .unverified].filter { owed[$0, default: 0] == 0 }
      let order = [.interactive] + due + [.begun, .bulk, .claimed, .unverified]
      return order.lazy.compactMap { waiting[$0]?.first }.first
    }

    /// Calls that wait.
    var ahead: Int { waiting.values.reduce(0) { $0 + $1.count } }

    mutating func leave(_ ticket: Int, _ priority: Priority) {
      waiting[priority]?.removeAll { $0 == ticket }
    }

    /// Counts a call that goes out.
    mutating func took(_ priority: Priority) {
      if priority == .interactive { return }
      for (limited, left) in owed where limited != priority { owed[limited] = left > 1 ? left - 1 : nil }
      owed[priority] = priority.othersForEach
    }

    /// The one to be woken because it is first now.
    mutating func nextAwake() -> CheckedContinuation<Void, Never>? {
      isRenewing ? nil : first.flatMap { asleep.removeValue(forKey: $0) }
    }
  }

  private struct State {
    var lines: [RateLimitKey: Line] = [:]
    var lastTicket = 0
  }

  private enum Step {
    case go(RateLimiterState.Permit)
    /// Until its turn; the lease is renewed meanwhile, if it ends before that.
    case sleep(until: Timestamp, leased: Timestamp)
    case renew
    case wait
  }

  private let state = Mutex(State())
  private let store: any RateLimitStore
  private let bounds: @Sendable (RateLimitKey) -> RateBounds
  private let timing: CallTimeSource

  /// How long to go on with the last share when the store fails.
  private static let patience = Interval.seconds(5)
  /// What to take of the rate when the store has never told how many share it.
  private static let cautiousShare = 0.1

  package init(
    store: any RateLimitStore, timing: CallTimeSource,
    bounds: @escaping @Sendable (RateLimitKey) -> RateBounds = { .documented($0) }
  ) {
    self.store = store
    self.timing = timing
    self.bounds = bounds
  }

  /// Returns when a call of this key may go out.
  ///
  /// Fails with `overBudget` as soon as it is clear that this would be after `deadline`.
  package func pass(
    _ key: RateLimitKey, _ priority: Priority, until deadline: Timestamp
  ) async throws -> RateLimiterState.Permit {
    let ticket = join(key, priority)
    do {
      while true {
        try Task.checkCancellation()
        switch step(ticket, key, priority) {
        case .go(let grant): return grant
        case .sleep(let instant, let leased):
          guard instant <= deadline else { throw Self.overBudget(key, instant) }
          try await timing.sleep(min(instant, leased) - timing.clock.now())
        case .renew: await renew(key)
        case .wait:
          await turn(of: ticket, key)
          guard timing.clock.now() <= deadline else { throw Self.overBudget(key, nil) }
        }
      }
    } catch {
      change(key) { $0.leave(ticket, priority) }
      throw error
    }
  }

  /// Apple answered; any status but 429 says that the rate was right.
  package func answered(_ grant: RateLimiterState.Permit, _ key: RateLimitKey) {
    change(key) { $0.budget.answered(grant) }
  }

  /// Apple answered 429; every other process hears of it at once.
  ///
  /// With the next share it would be too late: a command ends here, and a service that pauses asks for none.
  package func refused(_ grant: RateLimiterState.Permit, _ key: RateLimitKey, retryAt: Timestamp?) async {
    let now = timing.clock.now()
    change(key) { $0.budget.refused(grant, retryAt: retryAt, now: now) }
    _ = await exchange(key)
  }

  /// Gives every share back, and leaves what is known here to the others: for a process that makes no more calls.
  package func leave() async {
    let lines = state.withLock { state in
      let leased = state.lines.filter { $0.value.lease != nil }
      for key in leased.keys { state.lines[key]?.lease = nil }
      return leased.mapValues(\.budget.learned)
    }
    let now = timing.clock.now()
    for (key, learned) in lines {
      // What fails ends by itself, when the lease does.
      try? await withCancellationShield { [store] in try await store.leave(key, knowing: learned, at: now) }
    }
  }

  /// How long so many further calls will take, those in line before them included.
  package func forecast(calls: Int, _ key: RateLimitKey) -> RateLimitForecast {
    let now = timing.clock.now()
    return state.withLock { state in
      let line = line(key, &state)
      return line.budget.forecast(calls: calls + line.ahead, now: now)
    }
  }

  /// Whether so many further calls of bulk would all go within `interval`; never while our share is not known.
  package func isOpen(to calls: Int, within interval: Interval, _ key: RateLimitKey) -> Bool {
    let now = timing.clock.now()
    return state.withLock { state in
      guard let line = state.lines[key], line.lease?.contains(now) == true, line.bulkFrom.map({ $0 <= now }) ?? true
      else { return false }
      return line.budget.forecast(calls: calls + line.ahead, now: now).length <= interval
    }
  }

  // MARK: The line

  private static func overBudget(_ key: RateLimitKey, _ instant: Timestamp?) -> APIError {
    var failure = APIError(.overBudget, key.endpoint, "Switchyard's share of Apple's rate limit is used up for now")
    failure.environment = key.environment
    failure.retryAt = instant
    return failure
  }

  private func line(_ key: RateLimitKey, _ state: inout State) -> Line {
    if let line = state.lines[key] { return line }
    let line = Line(budget: RateLimiterState(bounds: bounds(key)))
    state.lines[key] = line
    return line
  }

  private func join(_ key: RateLimitKey, _ priority: Priority) -> Int {
    state.withLock { state in
      _ = line(key, &state)
      state.lastTicket += 1
      state.lines[key]?.waiting[priority, default: []].append(state.lastTicket)
      return state.lastTicket
    }
  }

  /// Changes a line, and wakes whoever is first by that.
  private func change(_ key: RateLimitKey, _ body: (inout Line) -> Void) {
    let awake = state.withLock { state in
      guard var line = state.lines[key] else { return nil as CheckedContinuation<Void, Never>? }
      body(&line)
      let awake = line.nextAwake()
      state.lines[key] = line
      return awake
    }
    awake?.resume()
  }

  private func step(_ ticket: Int, _ key: RateLimitKey, _ priority: Priority) -> Step {
    let now = timing.clock.now()
    var step = Step.wait
    change(key) { line in
      guard line.first == ticket, !line.isRenewing else { return }
      // Before its beginning it does not count either: the clock was set back, and it would last as much longer.
      guard let leased = line.lease?.upperBound, line.lease?.contains(now) == true else {
        line.isRenewing = true
        step = .renew
        return
      }
      if priority != .interactive, let from = line.bulkFrom, from > now {
        step = .sleep(until: from, leased: leased)
        return
      }
      switch line.budget.take(now: now) {
      case .now(let grant):
        line.leave(ticket, priority)
        line.took(priority)
        step = .go(grant)
      case .at(let instant): step = .sleep(until: instant, leased: leased)
      }
    }
    return step
  }

  private func renew(_ key: RateLimitKey) async {
    let lease = await exchange(key)
    let now = timing.clock.now()
    change(key) { line in
      line.isRenewing = false
      if lease == nil, line.lease == nil { line.budget.share = Self.cautiousShare }
      line.bulkFrom = lease?.bulkFrom
      // A lease that has ended on its way counts a little all the same: a slow store must not stop every call.
      line.lease = now..<max(lease?.until ?? now + Self.patience, now + .milliseconds(250))
    }
  }

  /// Tells the store what is known here and takes what the others know; nil when the store fails.
  ///
  /// Whoever is first in line does it for all: that it is cancelled says nothing of the store.
  private func exchange(_ key: RateLimitKey) async -> RateLimitShare? {
    guard let learned = state.withLock({ $0.lines[key]?.budget.learned }) else { return nil }
    let now = timing.clock.now()
    let lease = try? await withCancellationShield { [store] in try await store.renew(key, knowing: learned, at: now) }
    if let lease { change(key) { $0.budget.adopt(lease.learned, share: lease.share) } }
    return lease
  }

  /// Returns when the ticket is first in line, or the task is cancelled.
  private func turn(of ticket: Int, _ key: RateLimitKey) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDue = state.withLock { state in
          guard var line = state.lines[key] else { return true }
          if Task.isCancelled || line.first == ticket && !line.isRenewing { return true }
          line.asleep[ticket] = continuation
          state.lines[key] = line
          return false
        }
        if isDue { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { $0.lines[key]?.asleep.removeValue(forKey: ticket) }
      continuation?.resume()
    }
  }
}

@Suite struct `A line of calls` {
  /// A clock that moves when told to, and wakes who slept so long.
  private final class Bell: Sendable {
    private struct State {
      var now = Timestamp(1_780_000_000_000)
      var sleepers: [(until: Timestamp, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var timing: CallTimeSource {
      CallTimeSource(
        clock: WallClock { self.state.withLock { $0.now } }, sleep: { await self.sleep($0) }, jitter: { 0 })
    }

    var sleeping: Int { state.withLock { $0.sleepers.count } }

    private func sleep(_ interval: Interval) async {
      await withCheckedContinuation { continuation in
        state.withLock { $0.sleepers.append(($0.now + interval, continuation)) }
      }
    }

    func advance(by interval: Interval) {
      let due = state.withLock { state in
        state.now = state.now + interval
        let due = state.sleepers.filter { $0.until <= state.now }.map(\.1)
        state.sleepers.removeAll { $0.until <= state.now }
        return due
      }
      for continuation in due { continuation.resume() }
    }
  }

  /// Who passed, in order.
  private final class Passed: Sendable {
    private let all = Mutex<[String]>([])

    var names: [String] { all.withLock { $0 } }
    func add(_ name: String) { all.withLock { $0.append(name) } }
  }

  private let key = RateLimitKey(app: "a", endpoint: .getTransactionInfo, environment: .sandbox)
  private let end = Timestamp(.max)

  private func gate(_ bell: Bell) -> RateLimiter {
    RateLimiter(store: InMemoryRateLimitStore().member("test"), timing: bell.timing) { _ in
      RateBounds(start: 1, most: 1)
    }
  }

  @Test func `tells whether calls would go at once only while its share is known`() async throws {
    let bell = Bell()
    let gate = RateLimiter(store: InMemoryRateLimitStore().member("test"), timing: bell.timing) { _ in
      RateBounds(start: 1_000, most: 1_000)
    }
    #expect(!gate.isOpen(to: 1, within: .seconds(1), key), "nobody has asked how many share it")
    let grant = try await gate.pass(key, .bulk, until: end)
    #expect(gate.isOpen(to: 100, within: .milliseconds(100), key))
    #expect(!gate.isOpen(to: 101, within: .milliseconds(100), key))
    bell.advance(by: .seconds(10))
    #expect(!gate.isOpen(to: 1, within: .milliseconds(100), key), "its share has ended")
    _ = try await gate.pass(key, .bulk, until: end)
    #expect(gate.isOpen(to: 1, within: .milliseconds(100), key))
    await gate.refused(grant, key, retryAt: bell.timing.clock.now() + .seconds(1))
    #expect(!gate.isOpen(to: 1, within: .milliseconds(100), key), "Apple takes none for a second")
  }

  @Test func `lets an interactive call go before all bulk, at the next slot`() async throws {
    let bell = Bell()
    let gate = gate(bell)
    let passed = Passed()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          _ = try await gate.pass(key, .bulk, until: end)
          passed.add("bulk")
        }
      }
      #expect(
        await eventually {
          passed.names.count == 1 && bell.sleeping == 1 && gate.forecast(calls: 0, key).length == .seconds(19)
        })
      group.addTask {
        _ = try await gate.pass(key, .interactive, until: end)
        passed.add("interactive")
      }
      #expect(await eventually { bell.sleeping == 2 })
      bell.advance(by: .seconds(1))
      #expect(await eventually { passed.names.count == 2 && bell.sleeping == 1 })
      #expect(passed.names == ["bulk", "interactive"])
      for count in 3...21 {
        bell.advance(by: .seconds(1))
        #expect(await eventually { passed.names.count == count && (count == 21 || bell.sleeping == 1) })
      }
      try await group.waitForAll()
    }
  }

  /// The order in which calls pass that come one after the other in one second, with one slot a second.
  private func order(of calls: [RateLimiter.Priority]) async throws -> [String] {
    let bell = Bell()
    let gate = gate(bell)
    let passed = Passed()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (count, priority) in calls.enumerated() {
        group.addTask {
          _ = try await gate.pass(key, priority, until: end)
          passed.add("\(priority)")
        }
        #expect(
          await eventually {
            passed.names.count == 1
              && (count == 0 || gate.forecast(calls: 0, key).length == .seconds(Int64(count)) && bell.sleeping > 0)
          })
      }
      for count in calls.indices.dropFirst().map({ $0 + 1 }) {
        bell.advance(by: .seconds(1))
        #expect(await eventually { passed.names.count == count && (count == calls.count || bell.sleeping == 1) })
      }
      try await group.waitForAll()
    }
    return passed.names
  }

  @Test func `lets what was begun go before what was not`() async throws {
    #expect(try await order(of: [.bulk, .bulk, .begun, .interactive]) == ["bulk", "interactive", "begun", "bulk"])
  }

  @Test func `lets one claimed call go for three of bulk, begun or not, and each alone when there is no other`()
    async throws
  {
    let claimed = [RateLimiter.Priority](repeating: .claimed, count: 5)
    let bulk = [RateLimiter.Priority](repeating: .bulk, count: 7)
    #expect(
      try await order(of: [.bulk] + claimed + [.begun] + bulk + [.interactive]) == [
        "bulk", "interactive", "claimed", "begun", "bulk", "bulk", "claimed", "bulk", "bulk", "bulk", "claimed", "bulk",
        "bulk", "claimed", "claimed",
      ])
  }

  @Test func `lets one call for an unverified id go for nine others, and claims and bulk beside it as before`()
    async throws
  {
    let unverified = [RateLimiter.Priority](repeating: .unverified, count: 3)
    let bulk = [RateLimiter.Priority](repeating: .bulk, count: 8)
    #expect(
      try await order(of: [.bulk] + unverified + [.claimed, .claimed] + bulk) == [
        "bulk", "claimed", "unverified", "bulk", "bulk", "claimed", "bulk", "bulk", "bulk", "bulk", "bulk", "bulk",
        "unverified", "unverified",
      ])
  }

  @Test func `goes on when somebody leaves it, first or not`() async throws {
    let bell = Bell()
    let gate = gate(bell)
    let passed = Passed()
    func call() -> Task<Void, Never> {
      Task {
        if (try? await gate.pass(key, .bulk, until: end)) != nil { passed.add("bulk") }
      }
    }
    let first = call()
    await first.value
    let tasks = (0..<4).map { _ in call() }
    #expect(await eventually { gate.forecast(calls: 0, key).length == .seconds(4) && bell.sleeping == 1 })
    tasks[0].cancel()
    tasks[2].cancel()
    for _ in 0..<8 where gate.forecast(calls: 0, key).length > .seconds(0) {
      bell.advance(by: .seconds(1))
      #expect(await eventually { bell.sleeping == 1 || gate.forecast(calls: 0, key).length == .seconds(0) })
    }
    for task in tasks { await task.value }
    #expect(passed.names.count == 3)
  }

  @Test func `refuses at once who could not go in time`() async throws {
    let bell = Bell()
    let gate = gate(bell)
    let now = bell.timing.clock.now()
    _ = try await gate.pass(key, .interactive, until: now)
    let failure = await failure { try await gate.pass(key, .interactive, until: now + .milliseconds(900)) }
    #expect(failure?.code == .overBudget)
    // A second after the first, less what a timer may be late.
    #expect(failure?.retryAt == now + .milliseconds(950))
  }

  /// What a store in a test does when it is asked.
  private struct ToldStore: RateLimitStore {
    let answer: @Sendable (Timestamp) async throws -> RateLimitShare

    func renew(_ key: RateLimitKey, knowing: AdaptiveRate, at now: Timestamp) async throws -> RateLimitShare {
      try await answer(now)
    }
    func leave(_ key: RateLimitKey, knowing: AdaptiveRate, at now: Timestamp) {}
  }

  private static let bounds = RateBounds(start: 10, most: 10, burst: 5)

  @Test func `takes a tenth of the rate while the store has never told how many share it`() async throws {
    let store = ToldStore { _ in throw CancellationError() }
    let time = QuickTime()
    let gate = RateLimiter(store: store, timing: time.timing()) { _ in RateBounds(start: 20, most: 20) }
    let begun = time.now
    for _ in 0..<21 { _ = try await gate.pass(key, .bulk, until: end) }
    #expect(time.now - begun >= .seconds(9))
    #expect(time.now - begun <= .seconds(10))
  }

  @Test func `goes on with the share it had when the store fails`() async throws {
    let isBroken = Mutex(false)
    let store = ToldStore { now in
      if isBroken.withLock({ $0 }) { throw CancellationError() }
      return RateLimitShare(share: 0.5, learned: AdaptiveRate(Self.bounds), until: now + .seconds(1))
    }
    let time = QuickTime()
    let gate = RateLimiter(store: store, timing: time.timing()) { _ in Self.bounds }
    _ = try await gate.pass(key, .bulk, until: end)
    isBroken.withLock { $0 = true }
    time.advance(by: .minutes(1))
    _ = try await gate.pass(key, .bulk, until: end)
    #expect(gate.forecast(calls: 0, key).perSecond == 5)
  }

  @Test func `hears of its share although whoever was first in line is cancelled`() async throws {
    let asked = Mutex(false)
    let go = Mutex(false)
    let store = ToldStore { now in
      asked.withLock { $0 = true }
      while !go.withLock({ $0 }) { await Task.yield() }
      try Task.checkCancellation()
      return RateLimitShare(share: 0.5, learned: AdaptiveRate(Self.bounds), until: now + .seconds(1))
    }
    let gate = RateLimiter(store: store, timing: QuickTime().timing()) { _ in Self.bounds }
    let first = Task { try await gate.pass(key, .bulk, until: end) }
    #expect(await eventually { asked.withLock { $0 } })
    first.cancel()
    go.withLock { $0 = true }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(gate.forecast(calls: 0, key).perSecond == 5)
  }

  @Test func `asks for its share anew when the clock is set back`() async throws {
    let renewals = Mutex(0)
    let store = ToldStore { now in
      renewals.withLock { $0 += 1 }
      return RateLimitShare(share: 1, learned: AdaptiveRate(Self.bounds), until: now + .seconds(2))
    }
    let time = QuickTime()
    let gate = RateLimiter(store: store, timing: time.timing()) { _ in Self.bounds }
    _ = try await gate.pass(key, .bulk, until: end)
    time.advance(by: .hours(-1))
    _ = try await gate.pass(key, .bulk, until: end)
    #expect(renewals.withLock { $0 } == 2)
    #expect(time.slept.allSatisfy { $0 <= .milliseconds(100) })
  }

  @Test func `tells every process of a refusal before whoever was refused hears of it`() async throws {
    let (budgets, time) = (InMemoryRateLimitStore(), QuickTime())
    let gate = RateLimiter(store: budgets.member("command"), timing: time.timing()) { _ in Self.bounds }
    let grant = try await gate.pass(key, .interactive, until: end)
    let retryAt = time.now + .minutes(40)
    await gate.refused(grant, key, retryAt: retryAt)
    let other = RateLimiter(store: budgets.member("service"), timing: time.timing()) { _ in Self.bounds }
    let failure = await failure { try await other.pass(key, .bulk, until: time.now + .minutes(39)) }
    #expect(failure?.code == .overBudget && failure?.retryAt == retryAt)
  }

  @Test func `of one command after the other keeps to one rate, and thins nobody's share`() async throws {
    let (budgets, time) = (InMemoryRateLimitStore(), QuickTime())
    let begun = time.now
    for number in 0..<50 {
      let gate = RateLimiter(store: budgets.member("\(number)"), timing: time.timing()) { _ in Self.bounds }
      _ = try await gate.pass(key, .interactive, until: end)
      await gate.leave()
    }
    // Five at once, as after any pause; then one after the other.
    #expect(time.now - begun >= .milliseconds(4_400))
    #expect(time.now - begun <= .milliseconds(4_600))
    let service = budgets.member("service")
    #expect(service.renew(key, knowing: AdaptiveRate(Self.bounds), at: time.now).share == 1)
  }
}

import AppStore
import Support
import Synchronization
import Testing
import Time

@Suite struct `A budget` {
  private static let start = Milliseconds(1_780_000_000_000)
  private static let key = BudgetKey(app: "a", endpoint: .getTransactionHistory, environment: .production)

  /// What came of calls that never end, against a server that takes `limit` a second of each second.
  private struct Outcome {
    var answered = 0
    var refused = 0
  }

  /// Plays so many seconds in which somebody always waits; counts what comes after the first minute.
  private static func play(limit: Int, seconds: Int64, latency: Int64 = 80, saysWhen: Bool) -> Outcome {
    var budget = CallBudget(bounds: .unknown(key))
    var inFlight: [(due: Int64, grant: CallBudget.Grant, isRefused: Bool)] = []
    var (outcome, window, taken) = (Outcome(), Int64(0), 0)
    var now = start
    while now - start < .seconds(seconds) {
      while let first = inFlight.first, first.due <= now.sinceEpoch {
        inFlight.removeFirst()
        let counts = now - start > .seconds(60)
        if first.isRefused {
          let retryAt = saysWhen ? Milliseconds((first.due - latency / 2) / 1_000 * 1_000 + 1_000) : nil
          budget.refused(first.grant, retryAt: retryAt, now: now)
          outcome.refused += counts ? 1 : 0
        } else {
          budget.answered(first.grant)
          outcome.answered += counts ? 1 : 0
        }
      }
      guard case .now(let grant) = budget.take(now: now) else {
        now = now + .milliseconds(1)
        continue
      }
      let arrival = now.sinceEpoch + latency / 2
      if arrival / 1_000 != window { (window, taken) = (arrival / 1_000, 0) }
      taken += 1
      inFlight.append((now.sinceEpoch + latency, grant, taken > limit))
    }
    return outcome
  }

  @Test(arguments: [2, 10, 50, 300], [true, false])
  func `uses nine tenths of a limit it was not told, and is refused less than once in a hundred`(
    limit: Int, saysWhen: Bool
  ) {
    let seconds: Int64 = limit > 100 ? 180 : 600
    let outcome = Self.play(limit: limit, seconds: seconds, saysWhen: saysWhen)
    let possible = Double(limit) * Double(seconds - 60)
    #expect(Double(outcome.answered) >= 0.9 * possible, "\(outcome) of \(possible)")
    #expect(Double(outcome.refused) < 0.01 * Double(outcome.answered), "\(outcome)")
  }

  @Test func `never lets more go than its rate and its burst allow, whatever it is asked`() {
    var random = SeededRandom()
    for _ in 0..<40 {
      let rate = Double.random(in: 0.1...500, using: &random)
      let burst = Int.random(in: 1...10, using: &random)
      var budget = CallBudget(
        bounds: RateBounds(start: rate, most: rate, burst: burst), share: .random(in: 0.1...1, using: &random))
      let share = budget.share
      var (now, passed) = (Self.start, 0)
      while now - Self.start < .seconds(20) {
        if case .now = budget.take(now: now) { passed += 1 }
        now = now + .milliseconds(.random(in: 0...30, using: &random))
      }
      let allowed = rate * share * 20.05 + Double(burst) + 1
      #expect(Double(passed) <= allowed, "seed \(random.seed): \(passed) of \(allowed)")
    }
  }

  @Test func `names a time at which it keeps its word`() {
    var random = SeededRandom()
    for _ in 0..<200 {
      var budget = CallBudget(bounds: RateBounds(start: .random(in: 0.05...300, using: &random), most: 300))
      var now = Self.start
      for _ in 0..<20 {
        if case .at(let instant) = budget.take(now: now) {
          #expect(instant > now)
          now = instant
          guard case .now = budget.take(now: now) else {
            Issue.record("seed \(random.seed): not let go at the time it named")
            return
          }
        }
      }
    }
  }

  @Test func `keeps still until the time that Apple named, and forgets no later one`() {
    var budget = CallBudget(bounds: RateBounds(start: 10, most: 10))
    guard case .now(let grant) = budget.take(now: Self.start) else { return #expect(Bool(false)) }
    budget.refused(grant, retryAt: Self.start + .minutes(30), now: Self.start)
    budget.refused(grant, retryAt: Self.start + .minutes(2), now: Self.start)
    #expect(budget.take(now: Self.start + .minutes(3)) == .at(Self.start + .minutes(30)))
    let forecast = budget.forecast(calls: 80, now: Self.start)
    #expect(forecast.cause == .blocked)
    #expect(forecast.length == .milliseconds(1_800_000 + 10_000))
    // Both were sent before the rate was lowered: one lesson.
    #expect(budget.learned.perSecond == 8)
    #expect(budget.forecast(calls: 80, now: Self.start + .minutes(30)).cause == .learned)
  }

  @Test func `begins with what Apple documents and stays there`() {
    var budget = CallBudget(bounds: .documented(Self.key))
    var now = Self.start
    for _ in 0..<1_000 {
      switch budget.take(now: now) {
      case .now(let grant): budget.answered(grant)
      case .at(let instant): now = instant
      }
    }
    #expect(budget.learned.perSecond == 50)
    #expect(budget.forecast(calls: 180_000, now: now).length == .seconds(3_600))
  }

  @Test func `is merged from what any number of processes know, in any order`() {
    var random = SeededRandom()
    func any() -> LearnedRate {
      let refused = Bool.random(using: &random) ? Milliseconds(.random(in: 1...3, using: &random)) : nil
      return LearnedRate(
        perSecond: Double(Int.random(in: 1...3, using: &random)),
        blockedUntil: Bool.random(using: &random) ? Milliseconds(.random(in: 1...3, using: &random)) : nil,
        refusedRate: refused.map { _ in 4 }, refusedAt: refused)
    }
    for _ in 0..<500 {
      let (a, b, c) = (any(), any(), any())
      #expect(a.merged(with: a) == a)
      #expect(a.merged(with: b) == b.merged(with: a), "seed \(random.seed)")
      #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)), "seed \(random.seed)")
    }
  }

  @Test func `waits for one call at the most when the clock is set back`() {
    var budget = CallBudget(bounds: RateBounds(start: 10, most: 10, burst: 5))
    for _ in 0..<5 { _ = budget.take(now: Self.start) }
    let past = Self.start - .hours(1)
    #expect(budget.take(now: past) == .at(past + .milliseconds(100)))
    guard case .now = budget.take(now: past + .milliseconds(100)) else {
      Issue.record("not let go at the time it named")
      return
    }
    // Another process begins there, too.
    var other = CallBudget(bounds: RateBounds(start: 10, most: 10, burst: 5), learned: budget.learned)
    #expect(other.take(now: past) == .at(past + .milliseconds(100)))
  }

  @Test func `bursts with its share alone`() {
    func burst(_ share: Double) -> Int {
      var budget = CallBudget(bounds: RateBounds(start: 1, most: 1, burst: 8), share: share)
      var count = 0
      while case .now = budget.take(now: Self.start) { count += 1 }
      return count
    }
    #expect(burst(1) == 8)
    #expect(burst(0.5) == 4)
    #expect(burst(0.1) == 1)
  }

  @Test func `is shared by those who have calls waiting, and by nobody else`() {
    let budgets = SharedBudgets()
    let (one, two) = (budgets.member("one"), budgets.member("two"))
    var learned = LearnedRate(RateBounds(start: 10, most: 10))
    #expect(one.renew(Self.key, knowing: learned, at: Self.start).share == 1)
    learned.refused(takenAt: Self.start, retryAt: nil, now: Self.start, RateBounds(start: 10, most: 10))
    #expect(two.renew(Self.key, knowing: learned, at: Self.start + .seconds(1)).share == 0.5)
    let lease = one.renew(
      Self.key, knowing: LearnedRate(RateBounds(start: 10, most: 10)), at: Self.start + .seconds(2))
    #expect(lease.share == 0.5)
    #expect(lease.learned.perSecond == 8)
    #expect(one.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(4)).share == 1)
    #expect(two.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(5)).share == 0.5)
    one.leave(Self.key, knowing: lease.learned, at: Self.start + .seconds(5))
    #expect(two.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(5)).share == 1)
  }
}

@Suite struct `A line of calls` {
  /// A clock that moves when told to, and wakes who slept so long.
  private final class Bell: Sendable {
    private struct State {
      var now = Milliseconds(1_780_000_000_000)
      var sleepers: [(until: Milliseconds, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var timing: CallTiming {
      CallTiming(clock: WallClock { self.state.withLock { $0.now } }, sleep: { await self.sleep($0) }, jitter: { 0 })
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

  private let key = BudgetKey(app: "a", endpoint: .getTransactionInfo, environment: .sandbox)
  private let end = Milliseconds(.max)

  private func gate(_ bell: Bell) -> BudgetGate {
    BudgetGate(store: SharedBudgets().member("test"), timing: bell.timing) { _ in RateBounds(start: 1, most: 1) }
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

  @Test func `of another process stands still as soon as Apple has refused one of this`() async throws {
    let (bell, budgets) = (Bell(), SharedBudgets())
    let gates = ["command", "service"].map { name in
      BudgetGate(store: budgets.member(name), timing: bell.timing) { _ in RateBounds(start: 10, most: 10) }
    }
    let now = bell.timing.clock.now()
    let grant = try await gates[0].pass(key, .interactive, until: end)
    // The command ends with the refusal: it never asks for another share.
    await gates[0].refused(grant, key, retryAt: now + .hours(1))
    do {
      _ = try await gates[1].pass(key, .bulk, until: now + .minutes(59))
      Issue.record("Apple is asked again")
    } catch {
      let failure = try #require(error as? CallFailure)
      #expect(failure.code == .overBudget && failure.retryAt == now + .hours(1))
    }
  }

  @Test func `lets what was begun go before what was not`() async throws {
    let bell = Bell()
    let gate = gate(bell)
    let passed = Passed()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (count, priority) in [BudgetGate.Priority.bulk, .bulk, .begun, .interactive].enumerated() {
        group.addTask {
          _ = try await gate.pass(key, priority, until: end)
          passed.add("\(priority)")
        }
        #expect(await eventually { count == 0 ? passed.names.count == 1 : bell.sleeping == count })
      }
      for count in 2...4 {
        bell.advance(by: .seconds(1))
        #expect(await eventually { passed.names.count == count && (count == 4 || bell.sleeping == 1) })
      }
      try await group.waitForAll()
    }
    #expect(passed.names == ["bulk", "interactive", "begun", "bulk"])
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
  private struct ToldStore: BudgetStore {
    let answer: @Sendable (Milliseconds) async throws -> BudgetLease

    func renew(_ key: BudgetKey, knowing: LearnedRate, at now: Milliseconds) async throws -> BudgetLease {
      try await answer(now)
    }
    func leave(_ key: BudgetKey, knowing: LearnedRate, at now: Milliseconds) {}
  }

  private static let bounds = RateBounds(start: 10, most: 10, burst: 5)

  @Test func `takes a tenth of the rate while the store has never told how many share it`() async throws {
    let store = ToldStore { _ in throw CancellationError() }
    let time = QuickTime()
    let gate = BudgetGate(store: store, timing: time.timing()) { _ in RateBounds(start: 20, most: 20) }
    let begun = time.now
    for _ in 0..<21 { _ = try await gate.pass(key, .bulk, until: end) }
    #expect(time.now - begun >= .seconds(9))
    #expect(time.now - begun <= .seconds(10))
  }

  @Test func `goes on with the share it had when the store fails`() async throws {
    let isBroken = Mutex(false)
    let store = ToldStore { now in
      if isBroken.withLock({ $0 }) { throw CancellationError() }
      return BudgetLease(share: 0.5, learned: LearnedRate(Self.bounds), until: now + .seconds(1))
    }
    let time = QuickTime()
    let gate = BudgetGate(store: store, timing: time.timing()) { _ in Self.bounds }
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
      return BudgetLease(share: 0.5, learned: LearnedRate(Self.bounds), until: now + .seconds(1))
    }
    let gate = BudgetGate(store: store, timing: QuickTime().timing()) { _ in Self.bounds }
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
      return BudgetLease(share: 1, learned: LearnedRate(Self.bounds), until: now + .seconds(2))
    }
    let time = QuickTime()
    let gate = BudgetGate(store: store, timing: time.timing()) { _ in Self.bounds }
    _ = try await gate.pass(key, .bulk, until: end)
    time.advance(by: .hours(-1))
    _ = try await gate.pass(key, .bulk, until: end)
    #expect(renewals.withLock { $0 } == 2)
    #expect(time.slept.allSatisfy { $0 <= .milliseconds(100) })
  }

  @Test func `tells every process of a refusal before whoever was refused hears of it`() async throws {
    let (budgets, time) = (SharedBudgets(), QuickTime())
    let gate = BudgetGate(store: budgets.member("command"), timing: time.timing()) { _ in Self.bounds }
    let grant = try await gate.pass(key, .interactive, until: end)
    let retryAt = time.now + .minutes(40)
    await gate.refused(grant, key, retryAt: retryAt)
    let other = BudgetGate(store: budgets.member("service"), timing: time.timing()) { _ in Self.bounds }
    let failure = await failure { try await other.pass(key, .bulk, until: time.now + .minutes(39)) }
    #expect(failure?.code == .overBudget && failure?.retryAt == retryAt)
  }

  @Test func `of one command after the other keeps to one rate, and thins nobody's share`() async throws {
    let (budgets, time) = (SharedBudgets(), QuickTime())
    let begun = time.now
    for number in 0..<50 {
      let gate = BudgetGate(store: budgets.member("\(number)"), timing: time.timing()) { _ in Self.bounds }
      _ = try await gate.pass(key, .interactive, until: end)
      await gate.leave()
    }
    // Five at once, as after any pause; then one after the other.
    #expect(time.now - begun >= .milliseconds(4_400))
    #expect(time.now - begun <= .milliseconds(4_600))
    let service = budgets.member("service")
    #expect(service.renew(key, knowing: LearnedRate(Self.bounds), at: time.now).share == 1)
  }
}

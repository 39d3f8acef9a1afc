@Suite struct `A budget` {
  private static let start = Timestamp(1_780_000_000_000)
  private static let key = RateLimitKey(app: "a", endpoint: .getTransactionHistory, environment: .production)

  /// The responses in a span of seconds.
  private struct Outcome {
    var answered = 0
    var refused = 0
  }

  /// Plays processes that always have calls to send to a server that accepts `limit` calls in each second.
  ///
  /// - Returns: the responses in each of `spans`, in seconds since the start.
  private static func play(
    limit: (_ second: Int64) -> Int, _ spans: [Range<Int64>], processes: Int = 1, latency: Int64 = 80, saysWhen: Bool
  ) -> [Outcome] {
    let store = InMemoryRateLimitStore()
    var budgets = [RateLimiterState](repeating: RateLimiterState(bounds: .unknown(key)), count: processes)
    var inFlight: [(due: Int64, process: Int, grant: RateLimiterState.Permit, isRefused: Bool)] = []
    var (outcomes, window, taken) = (spans.map { _ in Outcome() }, Int64(0), 0)
    var now = start
    func takeTurns() -> Bool {
      var hasGone = false
      for process in budgets.indices {
        guard case .now(let grant) = budgets[process].take(now: now) else { continue }
        let arrival = now.sinceEpoch + latency / 2
        if arrival / 1_000 != window { (window, taken) = (arrival / 1_000, 0) }
        taken += 1
        let isRefused = taken > limit((now - start).milliseconds / 1_000)
        inFlight.append((now.sinceEpoch + latency, process, grant, isRefused))
        hasGone = true
      }
      return hasGone
    }
    while let end = spans.last?.upperBound, now - start < .seconds(end) {
      if (now - start).milliseconds % 1_000 == 0 {
        for process in budgets.indices {
          let lease = store.member("\(process)").renew(key, knowing: budgets[process].learned, at: now)
          budgets[process].adopt(lease.learned, share: lease.share)
        }
      }
      while let first = inFlight.first, first.due <= now.sinceEpoch {
        inFlight.removeFirst()
        let span = spans.firstIndex { $0.contains((now - start).milliseconds / 1_000) }
        if first.isRefused {
          let retryAt = saysWhen ? Timestamp((first.due - latency / 2) / 1_000 * 1_000 + 1_000) : nil
          budgets[first.process].refused(first.grant, retryAt: retryAt, now: now)
          if let span { outcomes[span].refused += 1 }
        } else {
          budgets[first.process].answered(first.grant)
          if let span { outcomes[span].answered += 1 }
        }
      }
      if !takeTurns() { now = now + .milliseconds(1) }
    }
    return outcomes
  }

  @Test(arguments: [2, 10, 50, 300], [true, false])
  func `uses nine tenths of a limit it was not told, and is refused less than once in a hundred`(
    limit: Int, saysWhen: Bool
  ) {
    let seconds: Int64 = limit > 100 ? 180 : 600
    let outcomes = Self.play(limit: { _ in limit }, [60..<seconds], saysWhen: saysWhen)
    Self.expect(outcomes[0], of: limit, seconds: seconds - 60)
  }

  private static func expect(_ outcome: Outcome, of limit: Int, seconds: Int64) {
    let possible = Double(limit) * Double(seconds)
    #expect(Double(outcome.answered) >= 0.9 * possible, "\(outcome) of \(possible)")
    #expect(Double(outcome.refused) < 0.01 * Double(outcome.answered), "\(outcome)")
  }

  /// The processes have a minute to find the limit, and a minute to follow it.
  @Test func `of two processes finds a limit, and follows it when it is lowered`() {
    let outcomes = Self.play(limit: { $0 < 120 ? 10 : 5 }, [60..<120, 180..<240], processes: 2, saysWhen: true)
    Self.expect(outcomes[0], of: 10, seconds: 60)
    Self.expect(outcomes[1], of: 5, seconds: 60)
  }

  @Test func `never lets more go than its rate and its burst allow, whatever it is asked`() {
    var random = SeededRandom()
    for _ in 0..<40 {
      let rate = Double.random(in: 0.1...500, using: &random)
      let burst = Int.random(in: 1...10, using: &random)
      var budget = RateLimiterState(
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
      var budget = RateLimiterState(bounds: RateBounds(start: .random(in: 0.05...300, using: &random), most: 300))
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
    var budget = RateLimiterState(bounds: RateBounds(start: 10, most: 10))
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
    var budget = RateLimiterState(bounds: .documented(Self.key))
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
    func any() -> AdaptiveRate {
      let refused = Bool.random(using: &random) ? Timestamp(.random(in: 1...3, using: &random)) : nil
      return AdaptiveRate(
        perSecond: Double(Int.random(in: 1...3, using: &random)),
        blockedUntil: Bool.random(using: &random) ? Timestamp(.random(in: 1...3, using: &random)) : nil,
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
    var budget = RateLimiterState(bounds: RateBounds(start: 10, most: 10, burst: 5))
    for _ in 0..<5 { _ = budget.take(now: Self.start) }
    let past = Self.start - .hours(1)
    #expect(budget.take(now: past) == .at(past + .milliseconds(100)))
    guard case .now = budget.take(now: past + .milliseconds(100)) else {
      Issue.record("not let go at the time it named")
      return
    }
    // Another process begins there, too.
    var other = RateLimiterState(bounds: RateBounds(start: 10, most: 10, burst: 5), learned: budget.learned)
    #expect(other.take(now: past) == .at(past + .milliseconds(100)))
  }

  @Test func `bursts with its share alone`() {
    func burst(_ share: Double) -> Int {
      var budget = RateLimiterState(bounds: RateBounds(start: 1, most: 1, burst: 8), share: share)
      var count = 0
      while case .now = budget.take(now: Self.start) { count += 1 }
      return count
    }
    #expect(burst(1) == 8)
    #expect(burst(0.5) == 4)
    #expect(burst(0.1) == 1)
  }

  @Test func `is shared by those who have calls waiting, and by nobody else`() {
    let budgets = InMemoryRateLimitStore()
    let (one, two) = (budgets.member("one"), budgets.member("two"))
    var learned = AdaptiveRate(RateBounds(start: 10, most: 10))
    #expect(one.renew(Self.key, knowing: learned, at: Self.start).share == 1)
    learned.refused(takenAt: Self.start, retryAt: nil, now: Self.start, RateBounds(start: 10, most: 10))
    #expect(two.renew(Self.key, knowing: learned, at: Self.start + .seconds(1)).share == 0.5)
    let lease = one.renew(
      Self.key, knowing: AdaptiveRate(RateBounds(start: 10, most: 10)), at: Self.start + .seconds(2))
    #expect(lease.share == 0.5)
    #expect(lease.learned.perSecond == 8)
    #expect(one.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(4)).share == 1)
    #expect(two.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(5)).share == 0.5)
    one.leave(Self.key, knowing: lease.learned, at: Self.start + .seconds(5))
    #expect(two.renew(Self.key, knowing: lease.learned, at: Self.start + .seconds(5)).share == 1)
  }
}

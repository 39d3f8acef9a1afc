/// A guard of one process, whose looks are counted, under a clock that moves only when it is told to.
private final class WatchedGuard: Sendable {
  private let pool: Pool
  private let metrics = MetricsRegistry()
  private let time = SteppedClock(at: GuardedApp.now)
  private let looks = Mutex(0)
  private let customers = Mutex(0)

  init(_ database: DatabaseConfiguration) { pool = Pool(database) }

  /// Looks for as long as `body` runs.
  func looking(_ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.run() }
      try await body()
      group.cancelAll()
    }
    await pool.close()
  }

  private func run() async {
    let clock = WallClock {
      self.looks.withLock { $0 += 1 }
      return self.time.clock.now()
    }
    let guarding = RolloutGuard(
      pool: pool, every: .milliseconds(5), metrics: metrics, clock: clock,
      logger: Logger(label: "test", level: .debug, handler: RecordingLogHandler()))
    try? await guarding.run()
  }

  /// Notes that so many other customers are compared now; the first of them would have had other access.
  func compare(_ count: Int, affected: Int) async throws {
    let now = time.clock.now()
    let first = customers.withLock { total in
      defer { total += count }
      return total
    }
    try await pool.transaction { session throws(DatabaseError) in
      for scope in try StageTable.all(in: session).keys where scope.environment == .sandbox {
        for number in first..<first + count {
          let isAffected = number < first + affected
          let name = [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 14)
          _ = try ComparisonTable.add(
            .init(
              cause: isAffected ? "ourDefect" : ComparisonTable.equal, counts: isAffected, differences: [], impact: nil),
            of: .init(scope: scope, window: now, customer: name, receipt: name), epoch: 1, at: now, settlingAt: nil,
            in: session)
        }
      }
    }
  }

  /// Moves the clock and waits for the look that began before: what is compared afterwards would be in its window.
  func advance(by interval: Interval) async {
    time.advance(by: interval)
    let seen = looks.withLock { $0 }
    _ = await eventually { looks.withLock { $0 } > seen }
  }

  /// What it says of the app once it has looked at everything up to now: `held`, `sound`, `breached`, `unwatched` where it has
  /// nothing to say, or `does not look`.
  func verdict() async -> String {
    let seen = looks.withLock { $0 }
    // The next look begins after this moment, and has ended when the one after it begins.
    guard await eventually({ looks.withLock { $0 } >= seen + 2 }) else { return "does not look" }
    let words = ["held", "sound", "breached"]
    let labels = "{app=\"\(GuardedApp.name)\",environment=\"Sandbox\"}"
    return words.indices.first { page.contains("switchyard_guard_state\(labels) \($0)\n") }.map { words[$0] }
      ?? "unwatched"
  }

  /// How often it says it took the app back, by cause; a cause without a series is not there.
  var breaches: [String: Int] {
    var counts: [String: Int] = [:]
    for cause in GuardBreach.causes {
      let series =
        "switchyard_guard_breaches_total{app=\"\(GuardedApp.name)\",environment=\"Sandbox\",cause=\"\(cause)\"} "
      guard let line = page.split(separator: "\n").first(where: { $0.hasPrefix(series) }) else { continue }
      counts[cause] = Int(line.dropFirst(series.count))
    }
    return counts
  }

  private var page: String { String(decoding: metrics.prometheusText(), as: UTF8.self) }

  /// Has an operator take the step again, now.
  func stepByHand() async throws {
    let now = time.clock.now()
    try await pool.transaction { session throws(DatabaseError) in
      _ = try session.execute(
        """
        UPDATE flags SET stage = 'ramp', ramp_share = 2500, epoch = epoch + 1, changed_at = \(now) WHERE environment = 2
        """)
    }
  }

  /// Whether the app's stage is as it was, and the guard has written nothing.
  func isInRamp() async throws -> Bool {
    let ramps = try await GuardedApp.count("flags WHERE stage = 'ramp' AND ramp_share = 2500 AND environment = 2", pool)
    return try await GuardedApp.count("audit WHERE actor = 'guard'", pool) == 0 && ramps == 1
  }

  /// How often it says this of a step back in the audit.
  func told(_ story: String) async throws -> Int {
    try await GuardedApp.count("audit WHERE actor = 'guard' AND reason = \(story)", pool)
  }
}

@Suite struct `The guard over hours` {
  @Test func `leaves an app alone for an hour at half the threshold, and takes it back above it`() async throws {
    let guarding = WatchedGuard(try await GuardedApp.database(hasCalls: false))
    try await guarding.looking {
      // One of each 200 customers, where two may be.
      try await guarding.compare(200, affected: 1)
      #expect(await guarding.verdict() == "sound")
      for minute in 1...60 {
        await guarding.advance(by: .minutes(1))
        try await guarding.compare(20, affected: minute.isMultiple(of: 10) ? 1 : 0)
        #expect(await guarding.verdict() == "sound", "after \(minute) minutes")
      }
      #expect(try await guarding.isInRamp())

      try await guarding.compare(20, affected: 20)
      let story = "Sandbox: ramp 25 % to shadow: 27 of 1420 customers would have had other access"
      let isBack = try await eventually { try await guarding.told(story) == 1 }
      #expect(isBack)
      #expect(await guarding.verdict() == "unwatched", "Apple answers again")
      await guarding.advance(by: .minutes(1))
      try await guarding.stepByHand()
      #expect(await guarding.verdict() == "held", "it still looks, and those of before the step do not count")
      try await guarding.compare(100, affected: 2)
      #expect(await eventually { guarding.breaches["impact"] == 2 }, "\(guarding.breaches)")
    }
  }

  @Test func `counts breaches from 0 for every cause, so that an alert sees the first one`() async throws {
    let guarding = WatchedGuard(try await GuardedApp.database(hasCalls: false))
    let none = ["impact": 0, "errors": 0, "latency": 0]
    try await guarding.looking {
      #expect(await guarding.verdict() == "held" && guarding.breaches == none, "\(guarding.breaches)")
      try await guarding.compare(100, affected: 2)
      #expect(await eventually { guarding.breaches == ["impact": 1, "errors": 0, "latency": 0] })
      // The state is gone in seconds; the count stays for the alert.
      #expect(await guarding.verdict() == "unwatched" && guarding.breaches["impact"] == 1)
    }
  }

  @Test func `holds an app while it knows nothing, too little, or nothing any more`() async throws {
    let guarding = WatchedGuard(try await GuardedApp.database(hasCalls: false))
    try await guarding.looking {
      for _ in 0..<3 {
        #expect(await guarding.verdict() == "held", "nobody was compared")
        await guarding.advance(by: .hours(1))
      }
      try await guarding.compare(99, affected: 99)
      #expect(await guarding.verdict() == "held", "one customer too few")
      await guarding.advance(by: .minutes(61))
      try await guarding.compare(99, affected: 0)
      #expect(await guarding.verdict() == "held", "those of before count no longer")
      try await guarding.compare(101, affected: 1)
      #expect(await guarding.verdict() == "sound")
      await guarding.advance(by: .minutes(60))
      #expect(await guarding.verdict() == "sound", "the window's first moment is in it")
      await guarding.advance(by: .minutes(1))
      for _ in 0..<3 {
        #expect(await guarding.verdict() == "held", "all of it is older than the window")
        await guarding.advance(by: .days(1))
      }
      #expect(try await guarding.isInRamp())
    }
  }
}

/// A guard of one process, with what it told.
private final class ToldGuard: Sendable {
  private let metrics = MetricsRegistry()
  private let log = RecordingLogHandler()
  private let kept = Mutex<[JSONObject]>([])
  private let pool: Pool

  init(_ database: DatabaseConfiguration) { pool = Pool(database) }

  /// What it announced.
  var news: [JSONObject] { kept.withLock { $0 } }

  var messages: [String] { log.messages }

  var hasCounted: Bool {
    let line = "switchyard_guard_breaches_total{app=\"\(GuardedApp.name)\",environment=\"Sandbox\",cause=\"errors\"} 1"
    return String(decoding: metrics.prometheusText(), as: UTF8.self).contains(line)
  }

  func logged(_ message: String) -> Int { messages.count { $0 == message } }

  /// Looks until it is cancelled.
  func run() async {
    let guarding = RolloutGuard(
      pool: pool, every: .milliseconds(5), announce: { news in self.kept.withLock { $0.append(news) } },
      metrics: metrics, clock: .fixed(at: GuardedApp.now),
      logger: Logger(label: "test", level: .debug, handler: log))
    try? await guarding.run()
    await pool.close()
  }
}

@Suite struct `The guard, when the answer to its commit is lost` {
  private static let tookBack = "the guard took an app back to shadow"

  /// Waits for more looks than one, so that what would be told twice is.
  private static func looksAgain(_ link: LossyLink) async -> Bool {
    let seen = link.requests
    return await eventually { link.requests > seen + 20 }
  }

  @Test(arguments: [LossyLink.Loss.request, .answer])
  func `finds out whether the app is back, and tells of it once`(loss: LossyLink.Loss) async throws {
    let database = try await GuardedApp.database()
    let link = LossyLink(to: database, losing: [loss])
    defer { link.end() }
    let guarding = ToldGuard(link.configuration)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await guarding.run() }
      #expect(await eventually { !guarding.news.isEmpty }, "\(guarding.messages)")
      #expect(await Self.looksAgain(link))
      group.cancelAll()
    }
    #expect(link.lost == 1, "\(guarding.messages)")
    #expect(guarding.news.count == 1 && guarding.hasCounted && guarding.logged(Self.tookBack) == 1)
    #expect(guarding.news.first?["cause"] == "errors" && guarding.news.first?["from"] == "ramp 25 %")
    let pool = Pool(database)
    #expect(try await GuardedApp.count("flags WHERE stage = 'shadow' AND environment = 2", pool) == 1)
    let story = GuardedApp.story
    #expect(try await GuardedApp.count("audit WHERE actor = 'guard' AND reason = \(story)", pool) == 1)
    #expect(try await GuardedApp.count("audit WHERE actor = 'guard'", pool) == 1)
    await pool.close()
  }

  @Test func `leaves it to the process that took the app back`() async throws {
    let database = try await GuardedApp.database()
    let link = LossyLink(to: database, losing: Array(repeating: .request, count: 100_000))
    defer { link.end() }
    let (unlucky, other) = (ToldGuard(link.configuration), ToldGuard(database))
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await unlucky.run() }
      #expect(await eventually { link.lost > 1 }, "\(unlucky.messages)")
      group.addTask { await other.run() }
      #expect(await eventually { !other.news.isEmpty }, "\(other.messages)")
      #expect(await Self.looksAgain(link))
      group.cancelAll()
    }
    #expect(unlucky.news.isEmpty && !unlucky.hasCounted && unlucky.logged(Self.tookBack) == 0)
    #expect(other.news.count == 1 && other.hasCounted)
    let pool = Pool(database)
    #expect(try await GuardedApp.count("audit WHERE actor = 'guard'", pool) == 1)
    await pool.close()
  }
}

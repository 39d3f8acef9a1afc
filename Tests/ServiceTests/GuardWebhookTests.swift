import Database
import HTTPClient
import HTTPServer
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Service
import Shadow
import Support
import Synchronization
import Testing
import Time

/// An operator's alerting: keeps what it is sent, and fails as often as it is told to.
private final class Alerts: HTTPHandler {
  private struct State {
    var bodies: [JSONObject] = []
    var failures: Int
  }

  private let state: Mutex<State>

  init(failures: Int) { state = Mutex(State(failures: failures)) }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let body = (try? JSONReader.read(request.body))?.object ?? JSONObject()
    let isFailing = state.withLock { state in
      state.bodies.append(body)
      state.failures -= 1
      return state.failures >= 0
    }
    return HTTPResponse(status: isFailing ? 500 : 200)
  }

  var bodies: [JSONObject] { state.withLock { $0.bodies } }
}

/// What a process has of a guard.
private struct GuardingProcess: Sendable {
  let metrics: MetricsRegistry
  let webhook: GuardWebhook
  let guarding: RolloutGuard

  init(_ pool: Pool, _ settings: GuardWebhook.Settings, _ client: HTTPClient, at now: Milliseconds, _ logger: Logger) {
    let metrics = MetricsRegistry()
    let webhook = GuardWebhook(settings, client: client, metrics: metrics, logger: logger)
    self.metrics = metrics
    self.webhook = webhook
    guarding = RolloutGuard(
      pool: pool, every: .milliseconds(5), announce: { webhook.take($0) }, metrics: metrics, clock: .fixed(at: now),
      logger: logger)
  }

  func shows(_ line: String) -> Bool { String(decoding: metrics.prometheusText(), as: UTF8.self).contains(line) }
}

@Suite struct `The guard's webhook` {
  private static let app = "com.example.guarded"
  private static let now = Milliseconds(1_796_000_000_000)

  /// A ledger with an app in `ramp 25 %`: 20 of 400 calls got no answer of ours, and each of 300 one of Apple's.
  private static func ledger() async throws -> Pool {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.now, in: session)
      let added = try AppTable.add(bundleID: Self.app, appAppleID: nil, at: Self.now, in: session)
      let scope = Scope(app: added.id, environment: .sandbox)
      _ = try session.execute(
        "UPDATE flags SET stage = 'ramp', ramp_share = 2500, changed_at = 0 WHERE environment = 2")
      func add(_ side: AnswerFigures.Side, _ time: Duration?, _ count: Int) throws(DatabaseError) {
        try AnswerTimeTable.add([.init(side, in: scope, took: time, at: Self.now): count], in: session)
      }
      try add(.ours, .milliseconds(20), 380)
      try add(.ours, nil, 20)
      try add(.apple, .milliseconds(150), 300)
    }
    return pool
  }

  private static func count(_ condition: SQL, _ pool: Pool) async throws -> Int {
    try await pool.read { session throws(DatabaseError) in
      try session.query("SELECT COUNT(*) AS rows_there FROM " + condition).first?.int("rows_there") ?? 0
    }
  }

  @Test(arguments: [(0, 1, "posted"), (2, 3, "posted"), (9, 3, "failed")])
  func `is told once of an app that two processes would take back for errors`(
    failures: Int, posts: Int, outcome: String
  ) async throws {
    let (pool, alerts) = (try await Self.ledger(), Alerts(failures: failures))
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: alerts)
    try server.start()
    let (client, log) = (HTTPClient(), RecordingLogHandler())
    var settings = GuardWebhook.Settings(url: "http://127.0.0.1:\(server.port)/alerts?key=hidden")
    settings.deadline = .seconds(60)
    settings.pause = .zero
    let processes = (0..<2).map { [settings] _ in
      GuardingProcess(
        pool, settings, client, at: Self.now, Logger(label: "test", level: .debug, handler: log))
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await server.run() }
      for process in processes {
        group.addTask { try? await process.webhook.run() }
        group.addTask { try? await process.guarding.run() }
      }
      let isTold = await eventually {
        processes.contains { $0.shows("switchyard_guard_webhook_total{outcome=\"\(outcome)\"} 1") }
      }
      #expect(isTold, "\(log.messages)")
      group.cancelAll()
    }
    await client.shutdown()
    let breach = "{app=\"\(Self.app)\",environment=\"Sandbox\",cause=\"errors\"} 1"
    #expect(processes.filter { $0.shows("switchyard_guard_breaches_total" + breach) }.count == 1)
    #expect(try await Self.count("flags WHERE stage = 'shadow' AND environment = 2", pool) == 1)
    let story = "Sandbox: ramp 25 % to shadow: 20 of 400 calls got no answer from Switchyard, 0 of 300 none from Apple"
    #expect(try await Self.count("audit WHERE actor = 'guard' AND reason = \(story)", pool) == 1)
    #expect(try await Self.count("audit WHERE actor = 'guard'", pool) == 1)
    #expect(alerts.bodies.count == posts)
    let told = try #require(alerts.bodies.last)
    #expect(told["event"] == "guardBreach" && told["cause"] == "errors" && told["figures"]?.object?["errors"] == 20)
    #expect(told["app"]?.string == Self.app && told["environment"] == "Sandbox")
    #expect(told["from"] == "ramp 25 %" && told["to"] == "shadow" && told["at"]?.integer == Self.now.sinceEpoch)
    #expect(told["next_steps"]?.array?.first?.string == "switchyard rollout status \(Self.app)")
    #expect(!"\(log.records)".contains("hidden"))
    #expect(told["id"]?.string?.hasPrefix("\(Self.app)/Sandbox/") == true)
    #expect(log.messages.contains("guard webhook failed") == (outcome == "failed"))
    await pool.close()
  }

  @Test func `counts what is still queued when the process ends as failed`() async throws {
    let (client, log, metrics) = (HTTPClient(), RecordingLogHandler(), MetricsRegistry())
    // Nobody listens there.
    var settings = GuardWebhook.Settings(url: "http://127.0.0.1:1/alerts")
    settings.pause = .zero
    let webhook = GuardWebhook(
      settings, client: client, metrics: metrics, logger: Logger(label: "test", level: .debug, handler: log))
    for epoch in 1...3 {
      webhook.take(
        TakenBack(
          app: Self.app, environment: "Sandbox", epoch: Int64(epoch), breach: .impact(affected: 2, customers: 100),
          from: "live", at: Self.now))
    }
    let run = Task { try? await webhook.run() }
    run.cancel()
    _ = await run.value
    #expect(log.messages.filter { $0 == "guard webhook failed" }.count == 3)
    let text = String(decoding: metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_guard_webhook_total{outcome=\"failed\"} 3"))
    await client.shutdown()
  }
}

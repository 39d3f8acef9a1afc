/// An operator's alerting: keeps what it is sent, and fails as often as it is told to, or for one app always.
private final class Alerts: HTTPHandler {
  private struct State {
    var bodies: [JSONObject] = []
    var failures: Int
  }

  private let state: Mutex<State>
  private let refused: String?

  init(failures: Int = 0, refusing app: String? = nil) {
    state = Mutex(State(failures: failures))
    refused = app
  }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let body = (try? JSONReader.read(request.body))?.object ?? JSONObject()
    let isRefused = refused != nil && body["app"]?.string == refused
    let isFailing = state.withLock { state in
      state.bodies.append(body)
      state.failures -= 1
      return isRefused || state.failures >= 0
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

  init(_ pool: Pool, _ settings: GuardWebhook.Settings, _ client: HTTPClient, at now: Timestamp, _ logger: Logger) {
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
  @Test(arguments: [(0, 1, "posted"), (2, 3, "posted"), (9, 3, "failed")])
  func `is told once of an app that two processes would take back for errors`(
    failures: Int, posts: Int, outcome: String
  ) async throws {
    let (pool, alerts) = (Pool(try await GuardedApp.database()), Alerts(failures: failures))
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: alerts)
    try server.start()
    let (client, log) = (HTTPClient(), RecordingLogHandler())
    var settings = GuardWebhook.Settings(url: "http://127.0.0.1:\(server.port)/alerts?key=hidden")
    settings.deadline = .seconds(60)
    settings.pauses = [.zero, .zero]
    let processes = (0..<2).map { [settings] _ in
      GuardingProcess(
        pool, settings, client, at: GuardedApp.now, Logger(label: "test", level: .debug, handler: log))
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
    let breach = "{app=\"\(GuardedApp.name)\",environment=\"Sandbox\",cause=\"errors\"} 1"
    #expect(processes.filter { $0.shows("switchyard_guard_breaches_total" + breach) }.count == 1)
    #expect(try await GuardedApp.count("flags WHERE stage = 'shadow' AND environment = 2", pool) == 1)
    let story = GuardedApp.story
    #expect(try await GuardedApp.count("audit WHERE actor = 'guard' AND reason = \(story)", pool) == 1)
    #expect(try await GuardedApp.count("audit WHERE actor = 'guard'", pool) == 1)
    #expect(alerts.bodies.count == posts)
    let told = try #require(alerts.bodies.last)
    #expect(told["event"] == "guardBreach" && told["cause"] == "errors" && told["figures"]?.object?["errors"] == 20)
    #expect(told["app"]?.string == GuardedApp.name && told["environment"] == "Sandbox")
    #expect(told["from"] == "ramp 25 %" && told["to"] == "shadow" && told["at"]?.integer == GuardedApp.now.sinceEpoch)
    #expect(told["atISO"]?.string == GuardedApp.now.iso8601 && told["runbook"] == "runbooks/guard-breach.md")
    #expect("\(log.records)".contains("runbooks/guard-breach.md"), "the log names it too")
    #expect(told["next_steps"]?.array?.first?.string == "switchyard rollout status \(GuardedApp.name)")
    #expect(!"\(log.records)".contains("hidden"))
    #expect(told["id"]?.string?.hasPrefix("\(GuardedApp.name)/Sandbox/") == true)
    #expect(log.messages.contains("guard webhook failed") == (outcome == "failed"))
    await pool.close()
  }

  private static func takenBack(_ app: String = GuardedApp.name, epoch: Int64 = 1) -> JSONObject {
    ["id": .string("\(app)/Sandbox/\(epoch)"), "app": .string(app), "environment": "Sandbox"]
  }

  /// A webhook that nobody runs yet.
  private static func webhook(
    _ settings: GuardWebhook.Settings, _ client: HTTPClient, _ metrics: MetricsRegistry, _ log: RecordingLogHandler
  ) -> GuardWebhook {
    GuardWebhook(
      settings, client: client, metrics: metrics, logger: Logger(label: "test", level: .debug, handler: log))
  }

  private static func count(_ outcome: String, in metrics: MetricsRegistry) -> Int? {
    let line = String(decoding: metrics.prometheusText(), as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("switchyard_guard_webhook_total{outcome=\"\(outcome)\"} ")
    }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
  }

  @Test func `counts what is still queued when the process ends as failed`() async throws {
    let (client, log, metrics) = (HTTPClient(), RecordingLogHandler(), MetricsRegistry())
    // Nobody listens there.
    let webhook = Self.webhook(.init(url: "http://127.0.0.1:1/alerts"), client, metrics, log)
    for epoch in Int64(1)...3 { webhook.take(Self.takenBack(epoch: epoch)) }
    let run = Task { try? await webhook.run() }
    run.cancel()
    _ = await run.value
    #expect(log.messages.filter { $0 == "guard webhook failed" }.count == 3)
    #expect(Self.count("failed", in: metrics) == 3)
    await client.shutdown()
  }

  @Test func `posts the next app's while it retries one`() async throws {
    let (client, log, metrics) = (HTTPClient(), RecordingLogHandler(), MetricsRegistry())
    let alerts = Alerts(refusing: "com.example.refused")
    let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: alerts)
    try server.start()
    var settings = GuardWebhook.Settings(url: "http://127.0.0.1:\(server.port)/alerts")
    settings.deadline = .seconds(60)
    // Longer than the test lasts.
    settings.pauses = [.seconds(86_400)]
    let webhook = Self.webhook(settings, client, metrics, log)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await server.run() }
      let run = Task { try? await webhook.run() }
      webhook.take(Self.takenBack("com.example.refused"))
      #expect(await eventually { log.messages.contains("guard webhook is retried") })
      webhook.take(Self.takenBack("com.example.next"))
      #expect(await eventually { Self.count("posted", in: metrics) == 1 })
      run.cancel()
      _ = await run.value
      group.cancelAll()
    }
    await client.shutdown()
    // Tried once more as the process ends.
    let apps = ["com.example.refused", "com.example.next", "com.example.refused"]
    #expect(alerts.bodies.map { $0["app"]?.string } == apps)
    #expect(Self.count("failed", in: metrics) == 1 && log.messages.last == "guard webhook failed", "\(log.messages)")
    #expect("\(log.records)".contains("the process ends; HTTP 500"), "\(log.records)")
  }

  @Test func `gives up at once what is one too many`() async throws {
    let (client, log, metrics) = (HTTPClient(), RecordingLogHandler(), MetricsRegistry())
    var settings = GuardWebhook.Settings(url: "http://127.0.0.1:1/alerts")
    settings.mostWaiting = 2
    settings.pauses = [.zero]
    let webhook = Self.webhook(settings, client, metrics, log)
    for epoch in Int64(1)...3 { webhook.take(Self.takenBack(epoch: epoch)) }
    #expect(Self.count("failed", in: metrics) == 1 && log.messages == ["guard webhook failed"])
    let run = Task { try? await webhook.run() }
    #expect(await eventually { Self.count("failed", in: metrics) == 3 })
    // There is room again.
    webhook.take(Self.takenBack(epoch: 4))
    #expect(await eventually { log.messages.filter { $0 == "guard webhook is retried" }.count == 3 })
    run.cancel()
    _ = await run.value
    #expect(Self.count("failed", in: metrics) == 4)
    await client.shutdown()
  }

  @Test func `is retried with growing pauses, for minutes, and not for longer than a quarter of an hour`() {
    let settings = GuardWebhook.Settings(url: "http://127.0.0.1:1/alerts")
    let (pauses, deadline) = (settings.pauses, Duration.milliseconds(settings.deadline.milliseconds))
    #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    let total = pauses.reduce(deadline) { $0 + $1 + deadline }
    #expect(total > .seconds(600) && total <= .seconds(900), "\(total)")
  }
}

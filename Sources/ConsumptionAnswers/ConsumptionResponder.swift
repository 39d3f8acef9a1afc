package import Database
package import HTTPClient
package import JSON
package import Ledger
package import Runtime
package import Signing
package import Time

/// Answers the consumption requests that Apple signed as each app's policy says, within the 12 hours, or deliberately not.
///
/// What Apple is to be told is kept before it is told, so that a process that is killed in between tells the same again.
package struct ConsumptionResponder: Service {
  package struct Settings: Sendable {
    /// Of one question to a back end, from the connection to the end of its answer.
    package var deadline = Interval.seconds(20)
    /// Longer than question and report together take.
    package var lease = Interval.minutes(5)
    package var backoff = Backoff(first: .seconds(5))

    package init() {}
  }

  /// What a back end answered.
  package struct Response: Sendable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
      self.status = status
      self.body = body
    }
  }

  /// Asks a back end; its status and body, or why there is no answer.
  package typealias Ask = @Sendable (ClientRequest) async -> Result<Response, HTTPClientError>
  package typealias Tell = @Sendable (JSONObject, ConsumptionRequestRecord) async -> ConsumptionReport.Outcome

  private let pool: Pool
  private let keys: Keyring
  private let settings: Settings
  private let ask: Ask
  private let tell: Tell
  private let outcomes: MetricFamily<Counter>
  private let waiting: MetricFamily<Gauge>
  private let clock: WallClock
  private let logger: Logger

  private static let pause = Duration.seconds(1)
  private static let atOnce = 8
  /// How long before its end a request is tried for the last time; longer than question and report usually take.
  private static let lastCall = Interval.minutes(1)

  package init(
    pool: Pool, keys: Keyring, settings: Settings = Settings(), ask: @escaping Ask, tell: @escaping Tell,
    metrics: MetricsRegistry, clock: WallClock, logger: Logger
  ) {
    self.pool = pool
    self.keys = keys
    self.settings = settings
    self.ask = ask
    self.tell = tell
    self.clock = clock
    self.logger = logger
    outcomes = metrics.counter(
      "switchyard_consumption_requests_total", help: "Consumption requests, by outcome.",
      labels: ["outcome"])
    waiting = metrics.gauge(
      "switchyard_consumption_requests_pending", help: "Consumption requests that are neither answered nor given up.",
      labels: [])
  }

  /// Asks and tells over the network.
  package init(
    pool: Pool, keys: Keyring, asking client: HTTPClient, telling report: ConsumptionReport, metrics: MetricsRegistry,
    clock: WallClock, logger: Logger
  ) {
    self.init(
      pool: pool, keys: keys,
      ask: { request in
        do throws(HTTPClientError) {
          let response = try await client.send(request)
          return .success(Response(status: response.status, body: response.body))
        } catch { return .failure(error) }
      },
      tell: { answer, request in await report.tell(answer, about: request) }, metrics: metrics, clock: clock,
      logger: logger)
  }

  package func run() async throws {
    while !Task.isCancelled {
      do {
        try await round()
        waiting[[]].record(
          try await pool.read { session throws(DatabaseError) in try ConsumptionTable.waiting(in: session) })
      } catch {
        if !Task.isCancelled {
          logger.warning("consumption requests could not be read; it is tried again", metadata: ["error": "\(error)"])
        }
      }
      try? await Task.sleep(for: Self.pause)
    }
  }

  /// Works on what is due now and waits for all of it; how many requests that was.
  @discardableResult
  package func round() async throws(DatabaseError) -> Int {
    let (now, owner, lease) = (clock.now(), [UInt8].random(count: 16), settings.lease)
    let leased = try await pool.transaction { session throws(DatabaseError) in
      try ConsumptionTable.lease(limit: Self.atOnce, until: now + lease, owner: owner, at: now, in: session)
    }
    await withDiscardingTaskGroup { group in
      for one in leased { group.addTask { await self.work(on: one) } }
    }
    return leased.count
  }

  private func work(on leased: LeasedConsumption) async {
    do {
      let request = leased.request
      guard clock.now() < request.deadline else {
        try await settle(leased, .expired, request.reason.map { "too late; last: \($0)" } ?? "too late")
        return
      }
      switch try await decision(on: request) {
      case .decline(let reason): try await settle(leased, .declined, reason)
      case .again(let reason): try await postpone(leased, reason)
      case .tell(let answer):
        try await pool.transaction(replayable: true) { session throws(DatabaseError) in
          try ConsumptionTable.keep(answer, for: leased, in: session)
        }
        try await report(answer, leased)
      }
    } catch {
      // The lease ends by itself, and it is done again.
      logger.warning(
        "a consumption request could not be worked on; it is tried again",
        metadata: ["transaction": "\(leased.request.name)", "error": "\(error)"])
    }
  }

  private func report(_ answer: JSONObject, _ leased: LeasedConsumption) async throws(DatabaseError) {
    switch await tell(answer, leased.request) {
    case .taken: try await settle(leased, .answered, nil)
    case .refused(let reason): try await settle(leased, .refused, reason)
    case .later(let reason): try await postpone(leased, reason)
    }
  }

  private func decision(on request: ConsumptionRequestRecord) async throws -> ConsumptionDecision {
    let (policy, app, token) = try await pool.read { [keys] session throws(DatabaseError) in
      let policy = try ConsumptionPolicyTable.policy(of: request.scope.app, in: session)
      let app = try AppTable.all(in: session).first { $0.id == request.scope.app }
      let tokens = try CredentialTable.open(.callbackToken, with: keys, in: session).opened
      return (policy, app, tokens.last { $0.app == request.scope.app }?.secret)
    }
    guard let app else { return .decline("the app is no longer registered") }
    // An answer that was kept may have been told already: the same again, whatever was decided since.
    if let answer = request.answer { return ConsumptionDecision(answer) }
    switch policy {
    case .ignore: return .decline("the app's policy is ignore")
    case .fixed(let answer): return ConsumptionDecision(answer)
    case .ask(let url):
      let question = ConsumptionCallback(request: request, app: app, url: url, token: token)
      switch await ask(question.request(within: settings.deadline)) {
      case .success(let response): return ConsumptionDecision(status: response.status, body: response.body)
      case .failure(let error): return .again("the back end gives no answer: \(error.code.rawValue)")
      }
    }
  }

  private func settle(
    _ leased: LeasedConsumption, _ state: ConsumptionRequestRecord.State, _ reason: String?
  ) async throws(DatabaseError) {
    let now = clock.now()
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try ConsumptionTable.settle(leased, as: state, because: reason, at: now, in: session)
    }
    outcomes[state.name].increment()
    let level: Logger.Level = [.expired, .refused, .unnamed, .claimed].contains(state) ? .error : .info
    logger.log(
      level: level, "a consumption request was settled",
      metadata: [
        "transaction": "\(leased.request.name)", "outcome": "\(state.name)", "reason": "\(reason ?? "")",
      ])
  }

  private func postpone(_ leased: LeasedConsumption, _ reason: String) async throws(DatabaseError) {
    let request = leased.request
    let (now, last) = (clock.now(), request.deadline - Self.lastCall)
    // The last attempt is not put off to the end, when nothing could be done any more.
    var due = min(now + settings.backoff.ceiling(after: request.attempts), now < last ? last : request.deadline)
    var reason = reason
    // This process ends; whoever comes next need not wait for what nobody refused.
    if Task.isCancelled { (due, reason) = (now, request.reason ?? "asked again after a stop") }
    let (when, why) = (due, reason)
    try await pool.transaction(replayable: true) { session throws(DatabaseError) in
      try ConsumptionTable.postpone(leased, until: when, because: why, in: session)
    }
    outcomes["postponed"].increment()
    logger.notice(
      "a consumption request could not be answered; it is tried again",
      metadata: [
        "transaction": "\(request.name)", "attempt": "\(request.attempts)", "reason": "\(reason)",
      ])
  }
}

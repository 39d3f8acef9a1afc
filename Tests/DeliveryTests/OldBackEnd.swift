/// An old back end that answers as it is told and remembers what it took, in order, repeats left out.
final class OldBackEnd: Sendable {
  private struct State {
    var outcome: Attempt
    var taken: [String] = []
    var seen: Set<String> = []
    var repeats = 0
    var attempts = 0
    var requests: [ClientRequest] = []
  }

  private let state: Mutex<State>

  init(_ outcome: Attempt = .delivered(status: 200)) { state = Mutex(State(outcome: outcome)) }

  func answer(_ outcome: Attempt) { state.withLock { $0.outcome = outcome } }

  var taken: [String] { state.withLock { $0.taken } }
  /// What it took although it had it.
  var repeats: Int { state.withLock { $0.repeats } }
  var attempts: Int { state.withLock { $0.attempts } }
  var requests: [ClientRequest] { state.withLock { $0.requests } }

  var post: Delivery.Post {
    { request in
      self.state.withLock { state in
        state.attempts += 1
        state.requests.append(request)
        guard case .delivered = state.outcome else { return state.outcome }
        let id = request.headers.first { $0.name == "webhook-id" }?.value ?? ""
        if state.seen.insert(id).inserted {
          state.taken.append(String(decoding: request.body, as: UTF8.self))
        } else {
          state.repeats += 1
        }
        return state.outcome
      }
    }
  }
}

/// A ledger with one app and its old back end, a clock that is moved by hand, and chance that is always the longest.
struct DeliveryBench {
  static let app = "com.example.delivery"
  static let start = Timestamp(1_780_000_000_000)

  let configuration: DatabaseConfiguration
  let pool: Pool
  let ledger: LedgerStore
  let scope: AppScope
  let clock = SteppedClock(at: start)
  let metrics = MetricsRegistry()

  /// - Parameter retries: how often a transaction is tried that the server asks to have tried again.
  init(retries: Int? = nil) async throws {
    configuration = try await PrivateMariaDB.shared.database()
    var settings = Pool.Settings()
    if let retries { settings.retry.attempts = retries }
    pool = Pool(configuration, settings: settings)
    ledger = LedgerStore(pool: pool)
    scope = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.start, in: session)
      let app = try AppTable.add(bundleID: Self.app, appAppleID: nil, at: Self.start, in: session)
      let scope = AppScope(app: app.id, environment: .sandbox)
      try DestinationTable.setLegacy("https://old.example.com/secret-path", of: scope, at: Self.start, in: session)
      return scope
    }
  }

  func delivery(
    to back: OldBackEnd, log: RecordingLogHandler = RecordingLogHandler()
  ) -> Delivery {
    var pacing = TimeSource.system
    pacing.random = { $0 }
    return Delivery(
      pool: pool, bodies: .ofTests, post: back.post, metrics: metrics, clock: clock.clock, pacing: pacing,
      logger: Logger(label: "test", level: .debug, handler: log))
  }

  func delivery(
    over post: @escaping Delivery.Post, _ settings: Delivery.Settings = .init(), pacing: TimeSource = .system
  ) -> Delivery {
    Delivery(
      pool: pool, bodies: .ofTests, settings: settings, post: post, metrics: metrics, clock: clock.clock,
      pacing: pacing, logger: Logger(label: "test", level: .debug, handler: RecordingLogHandler()))
  }

  /// Stores a message of each customer for each number, customers taking turns: `"7/0"`.
  func store(customers: Range<Int>, numbers: Range<Int>) async throws {
    for number in numbers {
      _ = try await ledger.append(customers.map { entry(customer: $0, number: number) })
    }
  }

  /// A message of a customer: `"7/0"`.
  func entry(customer: Int, number: Int, in other: AppScope? = nil) -> LedgerEntry {
    let scope = other ?? scope
    let message = InboxMessage(
      kind: .notification, body: Array("\(customer)/\(number)".utf8), receivedAt: clock.clock.now())
    var findings = Findings(app: Self.app, environment: scope.environment)
    findings.links = [
      CustomerLink(
        app: Self.app, environment: scope.environment, .originalTransactionID("\(customer)"),
        .appTransactionID("7\(customer)"))
    ]
    let acceptance = LedgerEntry.AcceptedMessage(app: scope.app, findings: findings, signedAt: nil, title: "test")
    return LedgerEntry(
      message, .accepted(acceptance),
      addressee: .init(scope, epoch: nil, at: clock.clock.now(), proof: .proven))
  }

  /// A message that nobody vouches for.
  func junk(_ text: String) -> LedgerEntry {
    let message = InboxMessage(kind: .notification, body: Array(text.utf8), receivedAt: clock.clock.now())
    let refusal = LedgerEntry.QuarantineReason(source: .unproven, code: "test", detail: "", claimedApp: Self.app)
    return LedgerEntry(
      message, .quarantined(refusal),
      addressee: .init(scope, epoch: nil, at: clock.clock.now(), proof: .unproven))
  }

  func depth() async throws -> OutboxDepth {
    try await pool.read { session throws(DatabaseError) in
      try OutboxTable.depths(in: session).values.first ?? OutboxDepth()
    }
  }

  /// The numbers of each customer's messages in the order in which they were taken.
  static func orders(_ taken: [String]) -> [String: [Int]] {
    taken.reduce(into: [:]) { orders, text in
      let parts = text.split(separator: "/")
      orders[String(parts[0]), default: []].append(Int(parts[1]) ?? -1)
    }
  }
}

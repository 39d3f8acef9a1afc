/// A ledger with one app that Apple asks about consumption, a back end and an Apple that answer as they are told.
final class ConsumptionBench: Sendable {
  static let app = "com.example.consumption"
  static let start = Timestamp(1_780_000_000_000)
  static let answer: JSONObject = [
    "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
  ]

  private struct State {
    var backEnd: Result<ConsumptionResponder.Response, HTTPClientError> = .failure(
      HTTPClientError(.couldNotConnect, ""))
    var apple = ConsumptionReport.Outcome.taken
    var asked: [ClientRequest] = []
    var told: [JSONObject] = []
  }

  let pool: Pool
  let ledger: LedgerStore
  let app: App
  let clock = SteppedClock(at: start)
  let metrics = MetricsRegistry()
  let log = RecordingLogHandler()
  let keys = Keyring.ofTests
  private let state = Mutex(State())

  init() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    self.pool = pool
    ledger = LedgerStore(pool: pool)
    app = try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: Self.start, in: session)
      return try AppTable.add(bundleID: Self.app, appAppleID: nil, at: Self.start, in: session)
    }
  }

  func backEnd(_ status: Int, _ body: String = "") {
    state.withLock {
      $0.backEnd = .success(.init(status: status, body: Array(body.utf8)))
    }
  }

  func apple(_ outcome: ConsumptionReport.Outcome) { state.withLock { $0.apple = outcome } }

  var asked: [ClientRequest] { state.withLock { $0.asked } }
  var told: [JSONObject] { state.withLock { $0.told } }

  func answers() -> ConsumptionResponder {
    ConsumptionResponder(
      pool: pool, keys: keys,
      ask: { request in
        self.state.withLock { state in
          state.asked.append(request)
          return state.backEnd
        }
      },
      tell: { answer, _ in
        self.state.withLock { state in
          state.told.append(answer)
          return state.apple
        }
      }, metrics: metrics, clock: clock.clock, logger: Logger(label: "test", level: .debug, handler: log))
  }

  func decide(_ policy: ConsumptionPolicy) async throws {
    try await pool.read { [app] session throws(DatabaseError) in
      try ConsumptionPolicyTable.set(policy, of: app, at: Self.start, in: session)
    }
  }

  /// Apple asks about this transaction; it comes at the start.
  ///
  /// - Parameters:
  ///   - filed: of V1, the purchase that was bought last: a body tells of it, and need not mean it.
  ///   - body: tells messages apart that say the same.
  ///   - isFromApple: whether a V1 body came from Apple's networks.
  func request(
    _ transaction: String? = "2000000000000001", filed: String? = nil, dated date: Timestamp = start,
    body: String = "", isFromApple: Bool = false
  ) async throws {
    let message = InboxMessage(
      kind: .notification, body: Array("ask \(transaction ?? "") \(body)".utf8), receivedAt: Self.start)
    var findings = Findings(app: Self.app, environment: .sandbox)
    findings.events = [
      Event(
        app: Self.app, environment: .sandbox,
        notificationUUID: filed == nil ? transaction.map { "uuid-\($0)" } : nil,
        notificationType: "CONSUMPTION_REQUEST", subtype: nil, originalTransactionID: transaction ?? filed,
        transactionID: transaction, line: nil, date: date, source: filed == nil ? .signedV2 : .notificationV1,
        rank: Rank(asOf: date, tieBreak: [UInt8](repeating: 0, count: 16)),
        details: ["consumptionRequestReason": "UNINTENDED_PURCHASE"], message: message.digest.bytes, rule: "N-029")
    ]
    var entry = LedgerEntry(
      message,
      .accepted(LedgerEntry.AcceptedMessage(app: app.id, findings: findings, signedAt: Self.start, title: "asked")))
    entry.claimedIDs = isFromApple ? .first : .behind(atMost: .max)
    _ = try await ledger.append([entry])
  }

  func all() async throws -> [ConsumptionRequestRecord] {
    try await pool.read { session throws(DatabaseError) in try ConsumptionTable.newest(limit: 10, in: session) }
  }

  func only() async throws -> ConsumptionRequestRecord {
    let all = try await all()
    #expect(all.count == 1)
    return try #require(all.first)
  }

  /// Works for so long, with the pauses of the back-off.
  func work(until end: Interval) async throws {
    let answers = answers()
    while clock.clock.now() <= Self.start + end {
      try await answers.round()
      clock.advance(by: .minutes(15))
    }
  }
}

import AppStore
import Database
import Delivery
import HTTPClient
import JSON
import Ledger
import Purchases
import Runtime
import Service
import Signing
import Simulator
import Support
import Synchronization
import Testing
import Time

/// A ledger with one app that Apple asks about consumption, a back end and an Apple that answer as they are told.
private final class ConsumptionBench: Sendable {
  static let app = "com.example.consumption"
  static let start = Milliseconds(1_780_000_000_000)
  static let answer: JSONObject = [
    "customerConsented": true, "deliveryStatus": "DELIVERED", "sampleContentProvided": false,
  ]

  private struct State {
    var backEnd: Result<ConsumptionAnswers.Heard, HTTPClientError> = .failure(HTTPClientError(.couldNotConnect, ""))
    var apple = ConsumptionReport.Outcome.taken
    var asked: [ClientRequest] = []
    var told: [JSONObject] = []
  }

  let pool: Pool
  let ledger: Ledger
  let app: App
  let clock = SteppedClock(at: start)
  let metrics = MetricsRegistry()
  let log = RecordingLogHandler()
  let keys = Keyring(current: MasterKey.generate())
  private let state = Mutex(State())

  init() async throws {
    let pool = Pool(try await PrivateMariaDB.shared.database())
    self.pool = pool
    ledger = Ledger(pool: pool)
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

  func answers() -> ConsumptionAnswers {
    ConsumptionAnswers(
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
  func request(
    _ transaction: String? = "2000000000000001", filed: String? = nil, dated date: Milliseconds = start,
    body: String = ""
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
    _ = try await ledger.append([
      Entry(
        message,
        .accepted(
          Entry.Acceptance(message, app: app.id, findings: findings, signedAt: Self.start, title: "asked")))
    ])
  }

  func all() async throws -> [ConsumptionCase] {
    try await pool.read { session throws(DatabaseError) in try ConsumptionTable.newest(limit: 10, in: session) }
  }

  func only() async throws -> ConsumptionCase {
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

@Suite struct `Consumption requests` {
  @Test func `are not answered unless somebody decided so, and that is written down`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.request()
    try await bench.request()
    #expect(try await bench.answers().round() == 1)
    let found = try await bench.only()
    #expect(found.state == .declined && found.reason == "the app's policy is ignore")
    #expect(found.customerReason == "UNINTENDED_PURCHASE" && found.settledAt == ConsumptionBench.start)
    #expect(bench.told.isEmpty && bench.asked.isEmpty)
    #expect(try await bench.answers().round() == 0)
    await bench.pool.close()
  }

  @Test func `are answered with the fixed answer once`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request()
    try await bench.answers().round()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .answered && found.answer == ConsumptionBench.answer)
    #expect(bench.told == [ConsumptionBench.answer])
    let text = String(decoding: bench.metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_consumption_requests_total{outcome=\"answered\"} 1"))
    await bench.pool.close()
  }

  @Test func `are put to the back end, with an id that is the same each time and the token it gave us`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used?key=1"))
    try await bench.pool.read { [app = bench.app, keys = bench.keys] session throws(DatabaseError) in
      try CredentialTable.put(
        Array("s3cret-token".utf8), kind: .callbackToken, name: "consumption", issuer: "", of: app, sealedWith: keys,
        at: ConsumptionBench.start, in: session)
    }
    try await bench.request()
    try await bench.answers().round()
    #expect(try await bench.only().reason == "the back end gives no answer: couldNotConnect")
    bench.backEnd(503)
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    bench.backEnd(200, "{\"customerConsented\":true}")
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    #expect(try await bench.only().reason?.contains("deliveryStatus is missing") == true)
    #expect(bench.told.isEmpty)
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    bench.clock.advance(by: .minutes(1))
    try await bench.answers().round()
    #expect(try await bench.only().state == .answered)
    #expect(bench.told == [ConsumptionBench.answer])
    let requests = bench.asked
    #expect(requests.count == 4)
    func header(_ name: String) -> Set<String?> {
      Set(requests.map { $0.headers.first { $0.name == name }?.value })
    }
    #expect(header("webhook-id").count == 1 && header("Authorization") == ["Bearer s3cret-token"])
    let body = try #require(try JSONReader.read(requests[0].body).object)
    #expect(body["transactionId"] == "2000000000000001" && body["bundleId"] == .string(ConsumptionBench.app))
    #expect(body["deadline"] == .integer((ConsumptionBench.start + .hours(12)).sinceEpoch))
    #expect(!bench.log.records.contains { "\($0)".contains("s3cret") || "\($0)".contains("key=1") })
    await bench.pool.close()
  }

  @Test(arguments: [
    (204, "", "the back end declines"), (200, "{\"decline\":\"chargeback\"}", "the back end declines: chargeback"),
    (200, "{\"customerConsented\":false}", "the customer did not consent"),
  ])
  func `are declined when the back end or the customer does`(status: Int, body: String, reason: String) async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    bench.backEnd(status, body)
    try await bench.request()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .declined && found.reason == reason)
    #expect(bench.told.isEmpty)
    await bench.pool.close()
  }

  @Test func `end after twelve hours, and not before`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    try await bench.work(until: .minutes(705))
    #expect(try await bench.only().state == .waiting)
    try await bench.work(until: .hours(13))
    let found = try await bench.only()
    #expect(found.state == .expired && found.settledAt == ConsumptionBench.start + .hours(12))
    #expect(found.reason == "too late; last: the back end gives no answer: couldNotConnect")
    #expect(bench.log.records.contains { $0.level == .error })
    await bench.pool.close()
  }

  @Test func `tell the same after a process was killed, whatever the back end says then`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    // Told, and killed before the note: all that is left is the lease and what was kept.
    bench.apple(.later("no answer"))
    try await bench.answers().round()
    try await bench.pool.read { session throws(DatabaseError) in
      _ = try session.execute(
        "UPDATE consumption_requests SET owner = \([UInt8](repeating: 7, count: 16)), due_at = due_at + 300000")
    }
    bench.backEnd(204)
    bench.apple(.taken)
    bench.clock.advance(by: .minutes(1))
    #expect(try await bench.answers().round() == 0, "leased by whoever is gone")
    bench.clock.advance(by: .minutes(6))
    #expect(try await bench.answers().round() == 1)
    #expect(try await bench.only().state == .answered)
    #expect(bench.told == [ConsumptionBench.answer, ConsumptionBench.answer] && bench.asked.count == 1)
    await bench.pool.close()
  }

  @Test func `are worked on by one process, however many there are`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    for number in 0..<20 { try await bench.request("20000000000001\(10 + number)") }
    let answers = (0..<4).map { _ in bench.answers() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for one in answers { group.addTask { while try await one.round() > 0 {} } }
      try await group.waitForAll()
    }
    #expect(bench.told.count == 20)
    await bench.pool.close()
  }

  @Test func `that Apple refuses are not settled while an earlier report of the same call may have been taken`() {
    var refused = CallFailure(.refused, .sendConsumptionInformation, "")
    refused.errorCode = 4_000_035
    let settled = ConsumptionReport.Outcome(refused)
    #expect(settled == .refused("\(refused); \(refused.nextStep)"))
    refused.mayHaveActed = true
    let open = ConsumptionReport.Outcome(refused)
    #expect(open == .later("\(refused); \(refused.nextStep)"))
  }

  @Test func `that Apple refuses are settled, with its reason`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    bench.apple(.refused("4040010"))
    try await bench.request()
    try await bench.answers().round()
    let found = try await bench.only()
    #expect(found.state == .refused && found.reason == "4040010")
    await bench.pool.close()
  }

  @Test func `of V1 have their twelve hours from when they came`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    try await bench.request(filed: "2000000000000001", dated: ConsumptionBench.start - .days(3))
    let found = try await bench.only()
    #expect(found.askedAt == ConsumptionBench.start && found.deadline == ConsumptionBench.start + .hours(12))
    try await bench.answers().round()
    #expect(try await bench.only().state == .answered)
    await bench.pool.close()
  }

  @Test func `of V1 that name no purchase are left to people, each of them`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    for body in ["first", "second", "second"] {
      try await bench.request(nil, filed: "2000000000000009", body: body)
    }
    #expect(try await bench.answers().round() == 2)
    let found = try await bench.all()
    #expect(found.map(\.state) == [.unnamed, .unnamed])
    #expect(found.allSatisfy { $0.transactionID == nil && $0.originalTransactionID == nil })
    #expect(found.allSatisfy { $0.reason?.contains("switchyard api consumption") == true })
    #expect(bench.told.isEmpty && bench.asked.isEmpty)
    #expect(bench.log.records.filter { $0.level == .error }.count == 2)
    let text = String(decoding: bench.metrics.prometheusText(), as: UTF8.self)
    #expect(text.contains("switchyard_consumption_requests_total{outcome=\"unnamed\"} 2"))
    await bench.pool.close()
  }

  @Test func `are tried for the last time before their end, not at it`() async throws {
    let bench = try await ConsumptionBench()
    try await bench.decide(.ask(url: "https://back.example.com/used"))
    try await bench.request()
    try await bench.work(until: .minutes(690))
    bench.clock.advance(by: .minutes(10))
    #expect(try await bench.answers().round() == 1, "at 11:55; the next pause would be 15 minutes")
    bench.backEnd(200, String(decoding: ConsumptionBench.answer.encoded(), as: UTF8.self))
    bench.clock.advance(by: .minutes(4))
    #expect(try await bench.answers().round() == 1)
    #expect(try await bench.only().state == .answered)
    await bench.pool.close()
  }

  @Test func `that come too late are nobody's work and no error, and are forgotten when Apple has forgotten them`()
    async throws
  {
    let bench = try await ConsumptionBench()
    try await bench.decide(.fixed(ConsumptionBench.answer))
    let start = ConsumptionBench.start
    try await bench.request("1", dated: start - .days(181))
    try await bench.request("2", dated: start - .hours(12))
    try await bench.request("3", dated: start - .hours(11))
    let states = try await bench.all().map(\.state)
    #expect(states == [.waiting, .expired, .expired])
    let waiting = try await bench.pool.read { session throws(DatabaseError) in
      try ConsumptionTable.waiting(in: session)
    }
    #expect(waiting == 1)
    #expect(try await bench.answers().round() == 1)
    #expect(bench.told.count == 1 && !bench.log.records.contains { $0.level == .error })
    func purge(askedBefore instant: Milliseconds) async throws -> Int {
      try await bench.pool.transaction { session throws(DatabaseError) in
        try ConsumptionTable.purge(askedBefore: instant, limit: 10, in: session)
      }
    }
    try await bench.request("4", dated: start - .minutes(1))
    #expect(try await purge(askedBefore: start - .days(180)) == 1)
    #expect(try await purge(askedBefore: start + .days(1)) == 2)
    #expect(try await bench.only().transactionID == "4", "what waits is never forgotten")
    await bench.pool.close()
  }
}

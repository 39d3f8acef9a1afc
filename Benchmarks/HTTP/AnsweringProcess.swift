import Adapter
import Database
import HTTPClient
import Ledger
import Purchases
import Runtime
import Signing
import Simulator
import Time

/// A `switchyard serve` in stage live whose ledger knows customers, and ready-made requests about them.
final class AnsweringProcess {
  let served: ServedProcess
  /// Requests that were sent until the first was answered from the ledger, that one included.
  private(set) var asked = 0
  private let requests: [[UInt8]]
  private let client = HTTPClient()
  private let roots: ScratchDirectory

  private init(_ served: ServedProcess, _ requests: [[UInt8]], _ roots: ScratchDirectory) {
    (self.served, self.requests, self.roots) = (served, requests, roots)
  }

  /// - Parameters:
  ///   - others: how many more customers the ledger has, with four rows each; no request is about them.
  ///   - cache: seconds for which an answer is given again.
  static func start(
    _ samples: NotificationSamples, customers count: Int, others: Int = 0, cache: Int?
  ) async throws -> AnsweringProcess {
    let (pki, roots, now) = (
      try ReceiptPKI.generate(at: NotificationSamples.start), try ScratchDirectory(), WallClock.system.now()
    )
    let root = try roots.write(pki.root.certificate.der, to: "receipts.der")
    let served = try await ServedProcess.start(
      trusting: samples.pki, app: NotificationSamples.app,
      options: [
        "--trust-root", "Sandbox=\(root)", "--back-end-networks", "127.0.0.0/8",
        // Nobody is there: what is not answered from the ledger fails.
        "--verify-receipt-url", "http://127.0.0.1:1/", "--verify-receipt-sandbox-url", "http://127.0.0.1:1/",
      ] + (cache.map { ["--answer-cache", "\($0)"] } ?? []))
    try served.register(secret: AnsweredCustomer.secret, of: NotificationSamples.app)
    let customers = (0..<count).map { AnsweredCustomer($0, at: now) }
    try await store(customers, in: served.database, samples, at: now)
    for first in stride(from: count, to: count + others, by: 1_000) {
      let part = (first..<min(first + 1_000, count + others)).map { AnsweredCustomer($0, rows: 4, at: now) }
      try await store(part, in: served.database, samples, at: now)
    }
    try served.setStage("live", of: NotificationSamples.app)
    let service = AnsweringProcess(served, try customers.map { try $0.request(signedBy: pki) }, roots)
    try await service.becomeLive()
    return service
  }

  /// Has the ledger know customers as Apple's notifications and histories tell them.
  static func store(
    _ customers: [AnsweredCustomer], in database: DatabaseConfiguration, _ samples: NotificationSamples,
    at now: Timestamp
  ) async throws {
    let pool = Pool(database)
    let (ledger, signer) = (
      LedgerStore(pool: pool, keys: Keyring(current: .generate())), try PayloadSigner(samples.pki)
    )
    let adapter = MessageDecoder(verifier: try samples.verifier())
    let app = try await pool.read { session throws(DatabaseError) in
      try AppTable.find(NotificationSamples.app.bundleID, in: session)
    }
    guard let app else { throw BenchmarkError("the app is not registered") }
    let scope = AppScope(app: app.id, environment: .sandbox)
    let atOnce = customers.first?.rows == AnsweredCustomer.rows ? 4 : 20
    for first in stride(from: 0, to: customers.count, by: atOnce) {
      let part = customers[first..<min(first + atOnce, customers.count)]
      let entries = try part.flatMap { try $0.entries(for: app, reading: adapter, signedBy: signer) }
      guard try await ledger.append(entries).allSatisfy({ $0 == .stored }) else {
        throw BenchmarkError("a notification was not stored")
      }
      let histories = part.map {
        StoredHistory(
          environment: .sandbox, originalTransactionIDs: [$0.originalTransactionID], transactionIDs: [], revision: "r")
      }
      try await pool.transaction { session throws(DatabaseError) in
        try HistoryTable.note(histories, in: scope, at: now, session)
      }
    }
    await pool.close()
  }

  /// Waits until the process knows the stage.
  private func becomeLive() async throws {
    let head = requests[0].firstRange(of: Array("\r\n\r\n".utf8))
    let body = Array(requests[0][(head?.upperBound ?? 0)...])
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(60) {
      let answer = try await client.send(
        ClientRequest(
          method: "POST", url: "http://127.0.0.1:\(served.port)\(AnswersHTTP.path)", body: body,
          deadline: .seconds(30)))
      if answer.headers["Switchyard-Answered-By"] == "ledger" {
        asked += 1
        return
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    throw BenchmarkError("the ledger does not answer")
  }

  /// Asks about the customers in turn, `count` times at most.
  func load(_ pace: LoadGenerator.Pace, count: Int, seconds: Double) async throws -> LoadReport {
    let sent = (0..<count).map { requests[$0 % requests.count] }
    return try await LoadGenerator(
      port: served.port, connections: DurableHTTP.connections, pace: pace, seconds: seconds
    ).run(sent)
  }

  /// How many of so many answers did not come from the ledger.
  func answersOfOthers(than all: Int) async throws -> Int {
    let answer = try await client.send(ClientRequest(url: "http://127.0.0.1:\(served.port)/metrics"))
    let (name, labels) = ("switchyard_verify_receipt_responses_total{", #"environment="Sandbox",source="ledger"} "#)
    let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(name) }
    let counts = lines.filter { $0.contains(labels) }.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    return all - counts.reduce(0, +)
  }

  /// Notifications as fast as they are acknowledged, as in `http.durable`, after a warm-up of these.
  func durable(_ warm: [[UInt8]], _ samples: NotificationSamples) async throws -> LoadReport {
    func load(_ requests: [[UInt8]], _ seconds: Double) async throws -> LoadReport {
      try await LoadGenerator(
        port: served.port, connections: DurableHTTP.connections, pace: .asFastAsAnswered, seconds: seconds
      ).run(requests)
    }
    let rate = try await load(warm, 30).perSecond
    let requests = try await samples.generate(Int(max(rate * 1.3, 3_600) * 10), from: DurableHTTP.warmUp) {
      LoadGenerator.request(DurableHTTP.path, $0.body)
    }
    return try await load(requests, 10)
  }

  func stop() async throws {
    await client.shutdown()
    try served.stop()
  }
}

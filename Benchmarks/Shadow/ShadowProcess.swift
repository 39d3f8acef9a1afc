import Adapter
import Database
import HTTPClient
import JSON
import Ledger
import Runtime
import Signing
import Simulator
import Time

/// A `switchyard serve` whose Apple is a `RecordedApple`, with customers whom its ledger knows.
final class ShadowProcess {
  /// Customers, and receipts of each: every receipt has a voice of its own in a comparison.
  private static let customers = 500
  private static let receipts = 6
  /// Rows of the customer of whom there are too many to compare.
  private static let largeRows = 100_000

  let served: ServedProcess
  /// Posts of receipts of the customers, each of another receipt.
  private(set) var requests: [[UInt8]] = []
  private let app: App
  private let pool: Pool
  private let client = HTTPClient()
  /// What the process reads while it runs.
  private let roots: ScratchDirectory
  private var largeReceipt = ""

  private init(_ served: ServedProcess, _ app: App, _ pool: Pool, _ roots: ScratchDirectory) {
    (self.served, self.app, self.pool, self.roots) = (served, app, pool, roots)
  }

  /// Records what Apple will answer: what the service itself answers while it is live, so that both answers are equal.
  ///
  /// - Parameters:
  ///   - apple: listens on `port`.
  ///   - note: tells whoever waits.
  static func start(
    _ apple: RecordedApple, port: UInt16, _ note: (String) -> Void
  ) async throws -> ShadowProcess {
    let samples = try NotificationSamples(seed: 12)
    let (pki, roots) = (try ReceiptPKI.generate(at: NotificationSamples.start), try ScratchDirectory())
    let root = try roots.write(pki.root.certificate.der, to: "receipts.der")
    let url = "http://127.0.0.1:\(port)/verifyReceipt"
    let served = try await ServedProcess.start(
      trusting: samples.pki, app: NotificationSamples.app,
      options: [
        "--trust-root", "Sandbox=\(root)", "--back-end-networks", "127.0.0.0/8", "--verify-receipt-url", url,
        "--verify-receipt-sandbox-url", url,
      ])
    try served.register(secret: AnsweredCustomer.secret, of: NotificationSamples.app)
    let pool = Pool(served.database)
    let bundleID = NotificationSamples.app.bundleID
    let found = try await pool.read { session throws(DatabaseError) in try AppTable.find(bundleID, in: session) }
    guard let app = found else { throw BenchmarkError("the app is not registered") }
    let process = ShadowProcess(served, app, pool, roots)
    let now = WallClock.system.now()
    note("  \(customers) customers with \(receipts) receipts each")
    try await process.know(samples, pki, apple, at: now)
    note("  a customer of \(largeRows) rows")
    try await process.knowLarge(samples, pki, apple, before: now)
    try await process.set("record")
    // Each of Apple's answers is recorded once, before anything is measured.
    _ = try await process.load(process.requests, .asFastAsAnswered, seconds: 120)
    return process
  }

  /// Has the ledger know the customers, and Apple answer about them.
  private func know(
    _ samples: NotificationSamples, _ pki: ReceiptPKI, _ apple: RecordedApple, at now: Timestamp
  ) async throws {
    let customers = (0..<Self.customers).map { AnsweredCustomer($0, at: now) }
    try await AnsweringProcess.store(customers, in: served.database, samples, at: now)
    try await set("live")
    // Those of one customer are far from one another.
    for version in 0..<Self.receipts {
      for customer in customers {
        let body = try customer.body(signedBy: pki, version: version)
        let answer = try await client.send(
          ClientRequest(
            method: "POST", url: "http://127.0.0.1:\(served.port)\(AnswersHTTP.path)", body: body,
            deadline: .seconds(30)))
        guard answer.status == 200, answer.headers["Switchyard-Answered-By"] == "ledger" else {
          throw BenchmarkError("the ledger does not answer")
        }
        apple.record(answer.body, to: body)
        requests.append(LoadGenerator.request(AnswersHTTP.path, body))
      }
    }
  }

  /// Has the ledger know the large customer, about whom Apple answers with the newest period alone.
  private func knowLarge(
    _ samples: NotificationSamples, _ pki: ReceiptPKI, _ apple: RecordedApple, before end: Timestamp
  ) async throws {
    // Each signed while the simulator's certificates hold.
    let customer = LargeCustomer(shape: .periods, purchases: Self.largeRows, every: .minutes(1))
    try await customer.store(
      in: LedgerStore(pool: pool, keys: Keyring(current: .generate())), of: app, before: end, untold: 0,
      reading: MessageDecoder(verifier: try samples.verifier()),
      signedBy: try PayloadSigner(samples.pki))
    let newest = customer.newest(2, before: end)
    let receipt = SimulatedReceipt(of: NotificationSamples.app, purchases: newest, createdAt: end)
    largeReceipt = String(decoding: try receipt.encoded(signedBy: pki), as: UTF8.self)
    let rows = newest.map { period -> JSONValue in
      func text(_ date: Timestamp) -> JSONValue { .string("\(date.sinceEpoch)") }
      return [
        "quantity": "1", "product_id": .string(period.product.id), "transaction_id": .string(period.transactionID),
        "original_transaction_id": .string(period.originalTransactionID),
        "purchase_date_ms": text(period.purchaseDate), "original_purchase_date_ms": text(period.originalPurchaseDate),
        "expires_date_ms": text(period.expiresDate ?? end), "is_trial_period": "false",
        "web_order_line_item_id": .string(period.webOrderLineItemID ?? ""), "in_app_ownership_type": "PURCHASED",
      ]
    }
    let answer: JSONObject = [
      "status": 0, "environment": "Sandbox",
      "receipt": [
        "receipt_type": "ProductionSandbox", "bundle_id": .string(NotificationSamples.app.bundleID),
        "in_app": .array(rows),
      ], "latest_receipt_info": .array(rows),
    ]
    apple.record(otherwise: answer.encoded())
  }

  /// A post of the large customer's receipt; each number is other bytes, which no earlier comparison stands for.
  func largeRequest(_ number: Int) -> [UInt8] {
    let body: JSONObject = [
      "receipt-data": .string(largeReceipt), "password": .string(AnsweredCustomer.secret),
      "number": .integer(Int64(number)),
    ]
    return LoadGenerator.request(AnswersHTTP.path, body.encoded())
  }

  // MARK: Stages and loads

  /// Moves the app to a stage, and waits until the service works by it.
  func set(_ stage: String) async throws {
    try served.setStage(stage, of: NotificationSamples.app)
    try await wait("the service does not follow the stage") {
      try await pool.read { session throws(DatabaseError) -> Bool in
        let mark = try StageTable.mark(in: session)
        let marks = try ProcessTable.notes(in: session).map(\.mark)
        return !marks.isEmpty && marks.allSatisfy { $0 >= mark }
      }
    }
  }

  /// Moves the app to `shadow` or `record`; to `shadow` always from `record`, so that every receipt has a voice again.
  func enter(shadow isShadow: Bool) async throws {
    try await set("record")
    if isShadow { try await set("shadow") }
  }

  func load(_ requests: [[UInt8]], _ pace: LoadGenerator.Pace, seconds: Double) async throws -> LoadReport {
    try await LoadGenerator(
      port: served.port, connections: DurableHTTP.connections, pace: pace, seconds: seconds
    ).run(requests)
  }

  func counts() async throws -> ShadowCounts {
    let answer = try await client.send(ClientRequest(url: "http://127.0.0.1:\(served.port)/metrics"))
    return ShadowCounts(String(decoding: answer.body, as: UTF8.self))
  }

  /// Waits until nothing is to be compared any more; what the metrics say then.
  func settled() async throws -> ShadowCounts {
    var counts = try await self.counts()
    try await wait("comparisons are not made") {
      let ended = counts.ended
      counts = try await self.counts()
      return counts.waiting == 0 && counts.ended == ended
    }
    return counts
  }

  private func wait(_ complaint: String, until isTrue: () async throws -> Bool) async throws {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(60) {
      if try await isTrue() { return }
      try await Task.sleep(for: .milliseconds(300))
    }
    throw BenchmarkError(complaint)
  }

  // MARK: Candidates that come to nothing

  /// Has the app choose a reading that this build does not know, as a newer one may have left it; or none again.
  func choose(readings: [String]) async throws {
    let (app, now) = (app, WallClock.system.now())
    try await pool.transaction { session throws(DatabaseError) in
      try PolicyTable.set(answerReadings: readings, of: app, at: now, in: session)
    }
  }

  /// Lets nobody read or write a comparison until the connection is closed.
  func lockComparisons() async throws -> Connection {
    let connection = try await Connection.open(served.database)
    try await connection.read { session throws(DatabaseError) in try session.run("LOCK TABLES comparisons WRITE") }
    return connection
  }

  func stop() async throws {
    await client.shutdown()
    await pool.close()
    try served.stop()
  }
}

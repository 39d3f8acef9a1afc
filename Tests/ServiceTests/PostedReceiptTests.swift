@testable import Service

/// The taker of posted receipts with a ledger, without the service around it.
private struct Taking {
  static let now = RunningService.now
  static let pki = ReceiptPKI.known(at: now)
  static let stranger = PeerAddress(bytes: [203, 0, 113, 9], port: 0)

  let configuration: DatabaseConfiguration
  let pool: Pool
  let ledger: LedgerStore
  let adapter: MessageDecoder
  let metrics: ServiceMetrics
  let receipts: ReceiptCapture

  static func with(
    stage: String = "live", disk: DiskSpaceLevel = .ample, _ change: (inout ReceiptCapture.Settings) -> Void = { _ in },
    _ body: (Taking) async throws -> Void
  ) async throws {
    let configuration = try await PrivateMariaDB.shared.database()
    let pool = Pool(configuration)
    try await pool.read { session throws(DatabaseError) in
      _ = try Migrator().migrate(at: now, in: session)
      _ = try AppTable.add(bundleID: RunningService.app, appAppleID: 1, at: now, in: session)
      _ = try session.execute("UPDATE flags SET stage = \(stage)")
    }
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try pki.trustedRoot()]))
    let adapter = MessageDecoder(verifier: SignedDataVerifier(roots: .apple), receipts: reader)
    let (ledger, metrics) = (LedgerStore(pool: pool), ServiceMetrics(MetricsRegistry()))
    let log = Logger(label: "test", level: .debug, handler: RecordingLogHandler())
    let registry = try await AppRegistry(
      reading: { try await pool.read { session throws(DatabaseError) in try AppTable.directory(in: session) } },
      logger: log)
    let commit = GroupCommit(ledger, disk: { disk })
    var settings = ReceiptCapture.Settings()
    change(&settings)
    let taking = Taking(
      configuration: configuration, pool: pool, ledger: ledger, adapter: adapter, metrics: metrics,
      receipts: ReceiptCapture(
        intake: IngestDecider(adapter: adapter), ledger: ledger, registry: registry, commit: commit, settings: settings,
        metrics: metrics, clock: .fixed(at: now), logger: log))
    let committing = Task { await commit.run() }
    defer { committing.cancel() }
    do { try await body(taking) } catch {
      await pool.close()
      throw error
    }
    await pool.close()
  }

  func taken(
    _ text: [UInt8], of app: String = RunningService.app, in environment: Environment = .sandbox,
    from sender: PeerAddress? = stranger
  ) async -> ReceiptCapture.Outcome {
    await receipts.taken(
      ReceiptCapture.Posted(
        String(decoding: text, as: UTF8.self), .sha256(text), of: app, in: environment, from: sender))
  }

  func dump() async throws -> [String] {
    try await pool.read { session throws(DatabaseError) in
      var lines: [String] = []
      try CanonicalDump.write(from: session) { lines.append(String(decoding: $0.encoded(), as: UTF8.self)) }
      return lines
    }
  }

  func texts(_ query: SQL) async throws -> [String] {
    try await pool.read { session throws(DatabaseError) in
      var texts: [String] = []
      for row in try session.query(query) { texts.append(try row.text(0)) }
      return texts
    }
  }
}

/// A customer with purchases, and the receipts of the customer's device.
private struct Buyer {
  private var ids: IdentifierSource
  private let customer: Customer
  private let app = SimulatedApp(name: "", bundleID: RunningService.app, appAppleID: 1)

  init(seed: UInt64) {
    ids = IdentifierSource(environment: .sandbox, seed: seed, life: 1)
    customer = Customer(name: "Eve", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
  }

  mutating func buys(_ product: Product, daysAgo days: Int64 = 20) -> SimulatedTransaction {
    SimulatedTransaction(of: product, by: customer, in: app, at: Taking.now - .days(days), ids: &ids)
  }

  func receipt(
    of purchases: [SimulatedTransaction], daysAgo days: Int64 = 1, signedBy pki: ReceiptPKI = Taking.pki,
    _ change: (inout SimulatedReceipt) -> Void = { _ in }
  ) throws -> [UInt8] {
    var receipt = SimulatedReceipt(of: app, purchases: purchases, createdAt: Taking.now - .days(days))
    change(&receipt)
    return try receipt.encoded(signedBy: pki)
  }

  static let goods = Product(.nonConsumable, id: "forever", price: 990)
  static let more = Product(.nonConsumable, id: "more", price: 1_990)
}

@Suite struct `A posted receipt` {
  @Test func `is kept when it tells of a purchase nobody knew, with its ids as seeds, and joined`() async throws {
    var buyer = Buyer(seed: 3)
    let bought = [buyer.buys(Buyer.goods), buyer.buys(Buyer.more, daysAgo: 10)]
    let text = try buyer.receipt(of: bought)
    try await Taking.with { taking in
      #expect(await taking.taken(text) == .stored)
      let ids = bought.map(\.originalTransactionID).sorted()
      #expect(try await taking.texts("SELECT transaction_id FROM seeds ORDER BY transaction_id") == ids)
      #expect(try await taking.texts("SELECT subject FROM work ORDER BY subject") == ids)
      #expect(try await taking.texts("SELECT title FROM inbox WHERE kind = 6") == ["receipt of 2"])
      let labels = try await taking.texts("SELECT DISTINCT label FROM customers WHERE node LIKE 'o%'")
      #expect(labels.count == 1, "one verified receipt is of one customer")
      // Again, by the same process and by another one that remembers nothing.
      #expect(await taking.taken(text) == .known)
    }
  }

  @Test func `is only counted when it tells of nothing new, whatever it is wrapped in`() async throws {
    var buyer = Buyer(seed: 4)
    let bought = buyer.buys(Buyer.goods)
    try await Taking.with({ $0.remembered = 0 }) { taking in
      #expect(await taking.taken(try buyer.receipt(of: [bought], daysAgo: 2)) == .stored)
      for other in 0..<3 {
        let again = try buyer.receipt(of: [bought]) {
          $0.otherAttributes = [(type: 9_000 + Int64(other), value: [4, 1, UInt8(other)])]
        }
        #expect(await taking.taken(again) == .known)
      }
      #expect(try await taking.texts("SELECT title FROM inbox") == ["receipt of 1"])
      #expect(taking.metrics.postedReceipts["known"].value == 3)
    }
  }

  @Test func `is kept for the new id that a restore gave a known purchase`() async throws {
    var buyer = Buyer(seed: 5)
    let bought = buyer.buys(Buyer.goods)
    try await Taking.with { taking in
      #expect(await taking.taken(try buyer.receipt(of: [bought], daysAgo: 2)) == .stored)
      let restored = try buyer.receipt(of: [bought]) { $0.purchases[0].transactionID = "1000000999999999" }
      #expect(await taking.taken(restored) == .stored)
      let aliases = try await taking.texts("SELECT alias FROM aliases WHERE kind = 1 ORDER BY alias")
      #expect(aliases.contains("1000000999999999"))
    }
  }

  @Test func `that nobody proved, or of another app, environment or stage, is never kept`() async throws {
    var buyer = Buyer(seed: 6)
    let bought = buyer.buys(Buyer.goods)
    let text = try buyer.receipt(of: [bought])
    let forged = try buyer.receipt(of: [bought], signedBy: ReceiptPKI.stranger(at: Taking.now))
    try await Taking.with { taking in
      #expect(await taking.taken(forged) == .unproven)
      #expect(await taking.taken(Array("MIIT".utf8)) == .unproven)
      #expect(await taking.taken(text, in: .production) == .unproven)
      #expect(await taking.taken(text, of: "com.example.unregistered") == .unknownApp)
      let other = try buyer.receipt(of: [bought]) { $0.bundleID = "com.example.other" }
      #expect(await taking.taken(other) == .unproven)
      #expect(try await taking.texts("SELECT title FROM inbox UNION SELECT source FROM quarantine").isEmpty)
    }
    try await Taking.with(stage: "legacy") { taking in
      #expect(await taking.taken(text) == .stageLegacy)
    }
    try await Taking.with(disk: .scarce) { taking in
      #expect(await taking.taken(text) == .failed)
    }
  }

  @Test func `of a stranger is kept at a rate, and of others at any`() async throws {
    var buyer = Buyer(seed: 7)
    try await Taking.with({ ($0.allowance.burst, $0.allowance.refill) = (2, .minutes(10)) }) { taking in
      var outcomes: [ReceiptCapture.Outcome] = []
      for _ in 0..<4 {
        outcomes.append(await taking.taken(try buyer.receipt(of: [buyer.buys(Buyer.goods)])))
      }
      #expect(outcomes == [.stored, .stored, .rate, .rate])
      // What tells of nothing new costs its sender nothing.
      let named = await taking.taken(try buyer.receipt(of: [buyer.buys(Buyer.goods)]), from: nil)
      let other = await taking.taken(
        try buyer.receipt(of: [buyer.buys(Buyer.goods)]), from: PeerAddress(bytes: [198, 51, 100, 1], port: 0))
      #expect(named == .stored && other == .stored)
    }
  }

  @Test func `of iOS 6 is a seed of the environment it was posted to, and proves no purchase there`() async throws {
    var buyer = Buyer(seed: 8)
    let bought = buyer.buys(Buyer.goods)
    func text(_ pod: String) throws -> [UInt8] {
      var receipt = SimulatedTransactionReceipt(bought)
      receipt.environment = nil
      let text = try receipt.encoded(signedBy: Taking.pki.transactionSigner)
      let list = String(decoding: try #require(Base64.standard.decode(text)), as: UTF8.self)
      return Base64.standard.encode(Array(list.replacing("\"pod\" = \"100\"", with: "\"pod\" = \"\(pod)\"").utf8))
    }
    try await Taking.with { taking in
      #expect(await taking.taken(try text("11"), in: .production) == .stored)
      #expect(try await taking.texts("SELECT subject FROM work") == [bought.originalTransactionID])
      let sources = try await taking.texts("SELECT CAST(source AS CHAR) FROM purchases")
      #expect(sources == ["\(Source.unverifiedReceipt.rawValue)"])
      // Its unsigned part may be anything: it is no news for that.
      #expect(await taking.taken(try text("12"), in: .production) == .known)
    }
  }

  @Test func `is read alike by a rebuild, and goes through a dump`() async throws {
    var buyer = Buyer(seed: 9)
    let bought = [buyer.buys(Buyer.goods), buyer.buys(Buyer.more)]
    try await Taking.with { taking in
      #expect(await taking.taken(try buyer.receipt(of: bought)) == .stored)
      let before = try await taking.dump()
      let adapter = taking.adapter
      let rebuild = Rebuild(taking.configuration, .ofTests) { try adapter.findings(of: $0) }
      let summary = try await rebuild.run(now: Taking.now)
      #expect(summary.messages == 1)
      #expect(try await taking.dump() == before)
      #expect(before.contains { $0.contains("verifiedReceipt") })
    }
  }
}

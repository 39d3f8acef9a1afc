import Adapter
import Database
import HTTPClient
import Ledger
import Signing
import Simulator
import Time

/// Customers of 10, 1,000, 4,000 and 12,000 purchases, looked up in `switchyard serve` over HTTP.
///
/// Two shapes: consumables (each an originalTransactionId of its own, all of one appTransactionId), and the periods of one
/// subscription. Each customer is taken in beforehand by the adapter and the ledger; then one more notification is posted,
/// and the customer is looked up: the first page, which says how all subscriptions stand. Times are the best of several, on
/// the wall: service, database and client share the machine; beside them the time that service and database had a core.
/// Memory is the most that the service had (VmHWM, reset before) while four clients looked up the customer at once. The
/// ratio of each time is to that of the customer of 1,000 of the same run; that of a notification to the customer of ten.
enum LargeLookUp {
  static let name = "lookup.large"
  private static let sizes = [10, 1_000, 4_000, 12_000]
  /// What the larger ones are compared with.
  private static let base = 1_000

  static let benchmark = Benchmark(name: name, summary: "one customer of thousands of purchases") { settings in
    let pki = try ApplePKI.generate(at: NotificationSamples.start)
    let signer = try PayloadSigner(pki)
    let adapter = MessageDecoder(
      verifier: SignedDataVerifier(roots: TrustedRoots.apple.adding([try pki.trustedRoot()], for: .sandbox)))
    let service = try await ServedProcess.start(trusting: pki, app: NotificationSamples.app)
    let pool = Pool(service.database)
    let ledger = LedgerStore(pool: pool, keys: Keyring(current: .generate()))
    let bundleID = NotificationSamples.app.bundleID
    let (app, token) = try await pool.transaction { session throws(DatabaseError) in
      guard let app = try AppTable.find(bundleID, in: session) else { throw DatabaseError(.column, "no app") }
      return (app, try TokenTable.issue(for: app, label: "benchmark", at: NotificationSamples.start, in: session))
    }
    let client = HTTPClient()
    var measurements: [Measurement] = []
    for shape in LargeCustomer.Shape.allCases {
      var figures: [Int: Figures] = [:]
      for size in sizes {
        let customer = LargeCustomer(shape: shape, purchases: size)
        let end = NotificationSamples.start + .days(120)
        try await customer.store(
          in: ledger, of: app, before: end, untold: repeats, reading: adapter, signedBy: signer)
        let measured = try await measure(customer, before: end, service, client, token, signer)
        settings.note(
          "  \(shape.rawValue) \(size): \(Figure.text(measured.lookUp)) ms, \(Figure.text(measured.memory)) MB")
        figures[size] = measured
        measurements += measured.measurements(
          shape, size, beside: size > Self.base ? figures[Self.base] : nil, smallest: figures[sizes[0]])
      }
    }
    await client.shutdown()
    await pool.close()
    try service.stop()
    return measurements
  }

  /// How often each thing is done; the best counts.
  private static let repeats = 5
  private static let clientsAtOnce = 4

  private struct Figures {
    /// Milliseconds.
    var lookUp: Double
    var service: Double
    var database: Double
    var notification: Double
    /// Megabytes.
    var memory: Double
    var kilobytes: Double

    func measurements(
      _ shape: LargeCustomer.Shape, _ size: Int, beside base: Figures?, smallest: Figures?
    ) -> [Measurement] {
      let name = "\(LargeLookUp.name).\(shape.rawValue).\(size)"
      let isLargest = size == LargeLookUp.sizes.last
      return [
        Measurement(
          name: name, value: lookUp, unit: "ms", against: base?.lookUp, peer: base.map { _ in "1,000 purchases" },
          target: isLargest ? .below(15) : nil),
        Measurement(
          name: "\(name).cpu", value: service + database, unit: "ms", against: base.map { $0.service + $0.database },
          peer: base.map { _ in "1,000 purchases" }, target: isLargest ? .below(15) : nil),
        Measurement(name: "\(name).cpu.service", value: service, unit: "ms"),
        Measurement(
          name: "\(name).notification", value: notification, unit: "ms", against: smallest?.notification,
          peer: "10 purchases", target: isLargest ? .below(2) : nil),
        Measurement(name: "\(name).size", value: kilobytes, unit: "KB"),
        Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
      ]
    }
  }

  private static func measure(
    _ customer: LargeCustomer, before end: Timestamp, _ service: ServedProcess, _ client: HTTPClient,
    _ token: String, _ signer: PayloadSigner
  ) async throws -> Figures {
    var posting = Double.infinity
    for place in customer.purchases - repeats..<customer.purchases {
      let body = try customer.notification(place, before: end, signedBy: signer).body
      let request = ClientRequest(method: "POST", url: "http://127.0.0.1:\(service.port)/notifications", body: body)
      posting = min(posting, try await milliseconds(of: request, client).time)
    }
    let request = ClientRequest(
      url: "http://127.0.0.1:\(service.port)/v1/apps/\(NotificationSamples.app.bundleID)/customers/\(customer.id)",
      headers: [("Authorization", "Bearer \(token)")], deadline: .seconds(120), responseLimit: 512 << 20)
    var (lookUp, size) = (Double.infinity, 0)
    // The kernel counts in hundredths of a second.
    let times = max(repeats, 2_000 / customer.purchases)
    let before = try service.processorSeconds()
    for _ in 0..<times {
      let (time, count) = try await milliseconds(of: request, client)
      (lookUp, size) = (min(lookUp, time), count)
    }
    let after = try service.processorSeconds()
    try service.resetPeakMemory()
    try await withThrowingDiscardingTaskGroup { group in
      for _ in 0..<clientsAtOnce { group.addTask { _ = try await milliseconds(of: request, client) } }
    }
    return Figures(
      lookUp: lookUp, service: (after.service - before.service) * 1e3 / Double(times),
      database: (after.database - before.database) * 1e3 / Double(times), notification: posting,
      memory: try service.peakMemory(), kilobytes: Double(size) / 1_024)
  }

  private static func milliseconds(
    of request: ClientRequest, _ client: HTTPClient
  ) async throws -> (time: Double, bytes: Int) {
    let start = ContinuousClock.now
    let response = try await client.send(request)
    let elapsed = (ContinuousClock.now - start).components
    guard response.status == 200 else {
      throw BenchmarkError("\(response.status): \(String(decoding: response.body.prefix(200), as: UTF8.self))")
    }
    return (Double(elapsed.seconds) * 1e3 + Double(elapsed.attoseconds) / 1e15, response.body.count)
  }
}

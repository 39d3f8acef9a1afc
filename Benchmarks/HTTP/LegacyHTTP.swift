/// V1 notifications of 20 rows to the service as it is deployed: mapped and stored, over HTTP.
///
/// As `http.durable`, and durable like it: 64 connections, every answer after its commit. First each notification is of
/// another customer, whose 20 purchases are new; then each customer renews, and 19 of the 20 rows were told before: what
/// Apple sends day by day. For half of `--seconds` each. Time on a core holds still when others use the machine too.
enum LegacyHTTP {
  static let name = "v1.http"
  private static let rows = 20
  /// Customers of the second part; each renews several times.
  private static let customers = 1_000

  static let benchmark = Benchmark(
    name: name, summary: "V1 notifications of 20 rows acknowledged by the service after commit"
  ) { settings in
    let samples = try NotificationSamples(seed: 5)
    let service = try await ServedProcess.start(trusting: samples.pki, app: NotificationSamples.app)
    try service.register(secret: LegacySamples.secret, of: NotificationSamples.app)
    let seconds = max(1, settings.seconds / 2)
    // The first notifications of those who renew afterwards, and the estimate of what can be sent in that time.
    let warm = try await measure("warm", requests(0..<customers, renewal: 0), 60, service, settings)
    let count = Int(max(warm.load.perSecond * 1.3, 1_200) * Double(seconds))
    let new = try await measure(
      "new", requests(customers..<customers + count, renewal: 0), seconds, service, settings)
    let renewals = (1...max(1, count / customers)).flatMap { requests(0..<customers, renewal: $0) }
    let retold = try await measure("retold", renewals, seconds, service, settings)
    let acknowledged = [warm, new, retold].reduce(0) { $0 + $1.load.acknowledged }
    let failures = [warm, new, retold].reduce(0) { $0 + $1.load.failures }
    let stored = try await service.storedMessages()
    let memory = try service.peakMemory()
    try service.stop()
    return new.measurements(name, target: .atLeast(1_000))
      + retold.measurements("\(name).retold", target: .atLeast(1_000)) + [
        Measurement(
          name: "\(name).lost", value: Double(acknowledged - stored), unit: "of \(acknowledged)", target: .below(1)),
        Measurement(name: "\(name).failed", value: Double(failures), unit: "requests", target: .below(1)),
        Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
      ]
  }

  private static func requests(_ customers: Range<Int>, renewal: Int) -> [[UInt8]] {
    customers.map { customer in
      LoadGenerator.request(
        DurableHTTP.path, LegacySamples.notification(customer: customer, rows: rows, renewal: renewal))
    }
  }

  /// A load, and what it took of the cores.
  private struct Part {
    let load: LoadReport
    let service: Double
    let database: Double

    func measurements(_ name: String, target: Measurement.Target) -> [Measurement] {
      let count = Double(load.acknowledged)
      return [
        Measurement(name: name, value: load.perSecond, unit: "notifications/s", target: target),
        Measurement(name: "\(name).cpu.service", value: service * 1e6 / count, unit: "us/notification"),
        Measurement(name: "\(name).cpu.database", value: database * 1e6 / count, unit: "us/notification"),
        Measurement(name: "\(name).p50", value: load.milliseconds(0.50), unit: "ms"),
        Measurement(name: "\(name).p99", value: load.milliseconds(0.99), unit: "ms"),
      ]
    }
  }

  private static func measure(
    _ name: String, _ requests: [[UInt8]], _ seconds: Int, _ service: ServedProcess, _ settings: Benchmark.Settings
  ) async throws -> Part {
    let before = try service.processorSeconds()
    let load = try await LoadGenerator(
      port: service.port, connections: DurableHTTP.connections, pace: .asFastAsAnswered, seconds: Double(seconds)
    ).run(requests)
    let after = try service.processorSeconds()
    settings.note("  \(name): \(load.acknowledged) in \(Figure.text(load.seconds)) s")
    return Part(load: load, service: after.service - before.service, database: after.database - before.database)
  }
}

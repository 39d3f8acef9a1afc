import Database
import Glibc
import JSON
import Ledger
import Simulator
import Time

/// The service as it is deployed: `switchyard serve` with its private database, and load over HTTP.
///
/// Notifications are made beforehand, each different, 64 customers taking turns. After a warm-up, 64 connections send as
/// fast as they are answered for `--seconds`: every answer comes after the commit that holds the notification, so what
/// is counted is durable. Then 1,500 a second, latency counted from when each was due. At the end the rows in the inbox
/// are compared with the acknowledgements; memory at its highest and time on a core are the kernel's (/proc). `held` is
/// the rate of the load's last fourth beside that of its first: what does not fit into the database's memory or log slows
/// it down as the ledger grows, and shows from some 200,000 notifications on (`--seconds 80`). Service,
/// database and load generator share the machine's cores; time on a core holds still when others use them too.
enum DurableHTTP {
  static let name = "http.durable"
  static let path = "/notifications"
  static let connections = 64
  /// Notifications of the warm-up, from which the size of the load is estimated.
  static let warmUp = 12_000
  private static let steadyRate = 1_500
  private static let steadySeconds = 20

  static let benchmark = Benchmark(name: name, summary: "notifications acknowledged by the service after commit") {
    settings in
    let samples = try NotificationSamples(seed: 3)
    let service = try await ServedProcess.start(trusting: samples.pki, app: NotificationSamples.app)
    let warm = try await requests(samples, warmUp, from: 0)
    let bare = try await BareHTTP.rates(warm).max()
    let first = try await LoadGenerator(
      port: service.port, connections: connections, pace: .asFastAsAnswered, seconds: 30
    ).run(warm)
    settings.note("  warm: \(Figure.text(first.perSecond)) a second")
    // Enough for a machine that others leave alone in a moment.
    let count = Int(max(first.perSecond * 1.3, 3_600) * Double(settings.seconds))
    let burst = try await requests(samples, count, from: warmUp)
    let before = try service.processorSeconds()
    let full = try await LoadGenerator(
      port: service.port, connections: connections, pace: .asFastAsAnswered, seconds: Double(settings.seconds)
    ).run(burst)
    let after = try service.processorSeconds()
    let eighths = full.perSecond(inParts: 8).map(Figure.text).joined(separator: ", ")
    settings.note("  \(full.acknowledged) in \(Figure.text(full.seconds)) s, a second in each eighth: \(eighths)")
    let fourths = full.perSecond(inParts: 4)
    let steady = try await requests(samples, steadyRate * steadySeconds, from: warmUp + count)
    let beforePaced = try service.processorSeconds()
    let paced = try await LoadGenerator(
      port: service.port, connections: connections, pace: .perSecond(steadyRate), seconds: Double(steadySeconds)
    ).run(steady)
    let afterPaced = try service.processorSeconds()
    let acknowledged = [first, full, paced].reduce(0) { $0 + $1.acknowledged }
    let failures = [first, full, paced].reduce(0) { $0 + $1.failures }
    let rows = try await service.storedMessages()
    let memory = try service.peakMemory()
    try service.stop()
    return [
      Measurement(
        name: name, value: full.perSecond, unit: "notifications/s", target: .atLeast(3_000)),
      Measurement(
        name: "\(name).share-of-bare", value: full.perSecond, unit: "requests/s", against: bare,
        peer: "the HTTP server alone"),
      Measurement(
        name: "\(name).held", value: fourths[3], unit: "notifications/s", against: fourths[0],
        peer: "the first fourth of the load"),
      Measurement(
        name: "\(name).cpu.service", value: (after.service - before.service) * 1e6 / Double(full.acknowledged),
        unit: "us/notification"),
      Measurement(
        name: "\(name).cpu.database", value: (after.database - before.database) * 1e6 / Double(full.acknowledged),
        unit: "us/notification"),
      Measurement(name: "\(name).p50", value: full.milliseconds(0.50), unit: "ms"),
      Measurement(name: "\(name).p99", value: full.milliseconds(0.99), unit: "ms"),
      Measurement(
        name: "\(name).lost", value: Double(acknowledged - rows), unit: "of \(acknowledged)", target: .below(1)),
      Measurement(name: "\(name).failed", value: Double(failures), unit: "requests", target: .below(1)),
      Measurement(name: "\(name).1500.p50", value: paced.milliseconds(0.50), unit: "ms"),
      Measurement(name: "\(name).1500.p99", value: paced.milliseconds(0.99), unit: "ms", target: .below(50)),
      Measurement(
        name: "\(name).1500.cpu.service",
        value: (afterPaced.service - beforePaced.service) * 1e6 / Double(paced.acknowledged),
        unit: "us/notification"),
      Measurement(
        name: "\(name).1500.cpu.database",
        value: (afterPaced.database - beforePaced.database) * 1e6 / Double(paced.acknowledged), unit: "us/notification"),
      Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
    ]
  }

  private static func requests(_ samples: NotificationSamples, _ count: Int, from first: Int) async throws -> [[UInt8]]
  {
    try await samples.generate(count, from: first) { LoadGenerator.request(path, $0.body) }
  }
}

import HTTPClient
import Signing
import Simulator
import Time

/// verifyReceipt answered from the ledger by the service as it is deployed, in stage live, over HTTP.
///
/// Each customer has 20 periods in the ledger and a receipt of two; Apple's history was just asked, so everything is fresh.
/// 64 connections, a thousand customers in turn; `--customers` puts further ones, of four periods each, into the ledger beside
/// them. Once as `serve` has it, where an answer is given again for 30 seconds
/// (`answers.http`), and once with `--answer-cache 0`, in a service of its own: each answer is read and composed
/// (`answers.http.composed`). Each as fast as answered for half of `--seconds`, then at half that rate for as long, latency
/// counted from when each was due. Beside them, of the same run: `http.bare`, and the service's own `http.durable`, for ten
/// seconds. Service, database and load generator share the machine's cores; time on a core holds still when others use them
/// too. At the end the service's metrics must say that the ledger answered each.
enum AnswersHTTP {
  static let name = "answers.http"
  static let path = "/sandbox/verifyReceipt"
  private static let customers = 1_000
  static let benchmark = Benchmark(name: name, summary: "verifyReceipt answered from the ledger by the service") {
    settings in
    let samples = try NotificationSamples(seed: 9)
    let warm = try await samples.generate(DurableHTTP.warmUp) { LoadGenerator.request(DurableHTTP.path, $0.body) }
    let bare = try await BareHTTP.rates(warm).max()
    let seconds = max(1, settings.seconds / 2)
    let standard = try await measure(
      name, samples, warm, cache: nil, others: settings.customers - customers, seconds: seconds, bare: bare,
      target: .atLeast(0.2))
    return try await standard
      + measure(
        "\(name).composed", samples, warm, cache: 0, others: settings.customers - customers, seconds: seconds,
        bare: bare, target: nil)
  }

  /// - Parameters:
  ///   - cache: seconds for which an answer is given again; nil: as `serve` has it.
  ///   - others: how many more customers the ledger has; no request is about them.
  private static func measure(
    _ name: String, _ samples: NotificationSamples, _ warm: [[UInt8]], cache: Int?, others: Int, seconds: Int,
    bare: Double?, target: Measurement.Target?
  ) async throws -> [Measurement] {
    let service = try await AnsweringProcess.start(samples, customers: customers, others: others, cache: cache)
    _ = try await service.load(.asFastAsAnswered, count: customers, seconds: 30)
    let before = try service.served.processorSeconds()
    let full = try await service.load(
      .asFastAsAnswered, count: (cache == 0 ? 20_000 : 60_000) * seconds, seconds: Double(seconds))
    let after = try service.served.processorSeconds()
    let half = max(1, Int(full.perSecond / 2))
    let paced = try await service.load(.perSecond(half), count: half * seconds, seconds: Double(seconds))
    let answered = customers + full.acknowledged + paced.acknowledged
    let others = try await service.answersOfOthers(than: answered + service.asked)
    let durable = try await service.durable(warm, samples)
    let memory = try service.served.peakMemory()
    try await service.stop()
    let count = Double(full.acknowledged)
    return [
      Measurement(
        name: name, value: full.perSecond, unit: "answers/s", against: bare, peer: "the HTTP server alone",
        target: target),
      Measurement(
        name: "\(name).cpu.service", value: (after.service - before.service) * 1e6 / count, unit: "us/answer"),
      Measurement(
        name: "\(name).cpu.database", value: (after.database - before.database) * 1e6 / count, unit: "us/answer"),
      Measurement(name: "\(name).p50", value: full.milliseconds(0.50), unit: "ms"),
      Measurement(name: "\(name).p99", value: full.milliseconds(0.99), unit: "ms"),
      Measurement(
        name: "\(name).half.p99", value: paced.milliseconds(0.99), unit: "ms", against: durable.milliseconds(0.99),
        peer: "notifications as fast as they are acknowledged", target: .below(2)),
      Measurement(name: "\(name).durable", value: durable.perSecond, unit: "notifications/s"),
      Measurement(
        name: "\(name).others", value: Double(others), unit: "not from the ledger", target: .below(1)),
      Measurement(
        name: "\(name).failed", value: Double(full.failures + paced.failures), unit: "requests", target: .below(1)),
      Measurement(name: "\(name).memory", value: memory, unit: "MB at most", target: .below(200)),
    ]
  }
}

import HTTPServer
import Simulator

/// The HTTP server alone: the ceiling of `http.durable`, and the proof that the load generator is not what is measured.
///
/// A handler that answers 200 to everything, in this process, under the same load of different notifications: server,
/// sockets and load generator, two cores for all three. Best of three runs of a third of the notifications each.
enum BareHTTP {
  static let name = "http.bare"

  static let benchmark = Benchmark(name: name, summary: "requests that nothing is done with") { _ in
    let samples = try NotificationSamples(seed: 2)
    let requests = try await samples.generate(DurableHTTP.warmUp) {
      LoadGenerator.request(DurableHTTP.path, $0.body)
    }
    let rates = try await rates(requests)
    return [Measurement(name: name, value: rates.max() ?? 0, unit: "requests/s", target: .atLeast(6_000))]
  }

  /// Requests a second, in each of three runs.
  static func rates(_ requests: [[UInt8]]) async throws -> [Double] {
    let server = HTTPServer(HTTPServerConfiguration(port: 0), handler: Always200())
    try server.start()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      defer { group.cancelAll() }
      var rates: [Double] = []
      for part in 0..<3 {
        let run = Array(requests.dropFirst(part * requests.count / 3).prefix(requests.count / 3))
        let load = LoadGenerator(
          port: server.port, connections: DurableHTTP.connections, pace: .asFastAsAnswered, seconds: 60)
        let report = try await load.run(run)
        guard report.acknowledged == run.count else { throw BenchmarkError("\(report.failures) requests failed") }
        rates.append(report.perSecond)
      }
      return rates
    }
  }

  private struct Always200: HTTPHandler {
    func respond(to request: HTTPRequest) async -> HTTPResponse { .json(200, Array(#"{"status":"stored"}"#.utf8)) }
  }
}

import HTTPServer
import JSON
package import Runtime

/// `/livez`, `/readyz` and `/metrics`.
package struct HealthRoute: Sendable {
  /// Returns the reason why requests should go to another process for now; `nil` if ready.
  package typealias Readiness = @Sendable () -> String?

  private let metrics: MetricsRegistry
  private let readiness: Readiness

  package init(metrics: MetricsRegistry, readiness: @escaping Readiness) {
    self.metrics = metrics
    self.readiness = readiness
  }

  /// Responds without any check, so that a database outage does not make an orchestrator kill the process.
  func alive() -> HTTPResponse { .text(200, "alive\n") }

  /// - Parameter saysWhy: whether to include the reason; not for strangers, because it describes the database.
  func ready(saysWhy: Bool) -> HTTPResponse {
    guard let reason = readiness() else { return .text(200, "ready\n") }
    return .text(503, saysWhy ? "not ready: \(reason)\n" : "not ready\n")
  }

  func metricsPage() -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
      body: metrics.prometheusText())
  }
}

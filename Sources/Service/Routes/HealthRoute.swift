import HTTPServer
import JSON
package import Runtime

/// `/livez`, `/readyz` and `/metrics`.
package struct HealthRoute: Sendable {
  /// Why requests should go elsewhere for now; nil when they are welcome.
  package typealias Readiness = @Sendable () -> String?

  private let metrics: MetricsRegistry
  private let readiness: Readiness

  package init(metrics: MetricsRegistry, readiness: @escaping Readiness) {
    self.metrics = metrics
    self.readiness = readiness
  }

  /// The process is there: nothing else is asked, so that no database outage makes an orchestrator kill it.
  func alive() -> HTTPResponse { .text(200, "alive\n") }

  func ready() -> HTTPResponse {
    if let reason = readiness() { return .text(503, "not ready: \(reason)\n") }
    return .text(200, "ready\n")
  }

  func metricsPage() -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
      body: metrics.prometheusText())
  }
}

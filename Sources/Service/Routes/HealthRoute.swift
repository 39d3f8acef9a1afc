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

  /// - Parameter saysWhy: whether the reason is told; not to strangers, whom the state of the database does not concern.
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

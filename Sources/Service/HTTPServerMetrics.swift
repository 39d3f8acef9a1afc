package import HTTPServer
package import Runtime

/// The rejections and connections of the HTTP server, as metrics and log lines.
package struct HTTPServerMetrics: Sendable {
  private let refused: MetricFamily<Counter>
  private let logger: Logger
  private let pace = LogRateLimiter(10)

  package init(_ metrics: MetricsRegistry, logger: Logger) {
    refused = metrics.counter(
      "switchyard_http_rejected_total",
      help:
        "Requests and connections that the HTTP server refused, by reason; detail says what was wrong with the bytes, or why the route refused.",
      labels: ["reason", "detail"])
    self.logger = logger
  }

  /// Declares gauges for the current connections of `server`.
  package func observe(_ server: HTTPServer, in metrics: MetricsRegistry) {
    metrics.gauge("switchyard_http_open_connections", help: "Open HTTP connections.") {
      Double(server.counters.openConnections)
    }
    metrics.gauge(
      "switchyard_event_loop_stall_seconds",
      help: "The longest turn of an event loop in the last one to two minutes: its other connections waited that long."
    ) { server.longestTurn / .seconds(1) }
    metrics.gauge(
      "switchyard_http_connections", help: "Open HTTP connections of each class of callers.", label: "caller"
    ) { Self.used(.connections, server) }
    metrics.gauge(
      "switchyard_http_body_bytes",
      help: "Memory that bodies of HTTP requests and their answers hold, for each class of callers.",
      label: "caller"
    ) { Self.used(.bodies, server) }
  }

  private static func used(_ capacity: HTTPCapacity, _ server: HTTPServer) -> [(String, Double)] {
    CallerClass.allCases.map { ($0.rawValue, Double(server.used(capacity, by: $0))) }
  }

  package func note(_ event: HTTPServerEvent) {
    switch event {
    case .listening(let address, let port):
      logger.info("listening", metadata: ["address": "\(address)", "port": "\(port)"])
    case .refused(let reason, let peer, let detail):
      refused.increment(reason.rawValue, detail)
      logger.debug(
        "request refused", metadata: ["reason": "\(reason.rawValue)", "detail": "\(detail)", "peer": "\(peer)"])
    case .nearlyFull(let capacity, let caller, let used):
      logger.warning(
        "http capacity nearly used up",
        metadata: ["capacity": "\(capacity.rawValue)", "caller": "\(caller.rawValue)", "used": "\(used)"])
    case .acceptFailed(let reason):
      guard let leftOut = pace.turn(of: reason) else { return }
      logger.warning("a connection was not accepted", metadata: ["reason": "\(reason)", "leftOut": "\(leftOut)"])
    case .unsayableResponse(let status):
      logger.error("an answer could not be sent", metadata: ["status": "\(status)"])
    case .stopped(let unfinished):
      if unfinished > 0 { logger.warning("stopped with requests unfinished", metadata: ["count": "\(unfinished)"]) }
    }
  }
}

import HTTPServer

/// Serves `/metrics`, `/livez` and `/readyz` on a separate listener, which strangers cannot reach.
struct MetricsListener: HTTPHandler {
  let health: HealthRoute

  func admit(_ head: HTTPRequestHead) -> HTTPAdmission { .admit(bodyLimit: 0) }

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return .error(405, "methodNotAllowed", "this path takes GET")
    }
    switch request.path {
    case "/metrics": return health.metricsPage()
    case "/livez": return health.alive()
    case "/readyz": return health.ready(saysWhy: true)
    case _: return .error(404, "notFound", "there is nothing here but /metrics, /livez and /readyz")
    }
  }
}

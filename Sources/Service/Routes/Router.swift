package import HTTPServer
import JSON
import Ledger
import Purchases
import Time

/// Sends each request to the route that its path names, after what can be refused before its body is taken.
package struct Router: HTTPHandler {
  private let notifications: NotificationRoute
  private let receipts: VerifyReceiptRoute
  private let evidence: EvidenceRoute
  private let purchases: PurchasesRoute
  private let health: HealthRoute
  private let sources: AllowedSources
  private let registry: Registry

  init(
    notifications: NotificationRoute, receipts: VerifyReceiptRoute, evidence: EvidenceRoute, purchases: PurchasesRoute,
    health: HealthRoute,
    sources: AllowedSources, registry: Registry
  ) {
    self.notifications = notifications
    self.receipts = receipts
    self.evidence = evidence
    self.purchases = purchases
    self.health = health
    self.sources = sources
    self.registry = registry
  }

  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission {
    guard let route = Route(path: head.path) else {
      return .refuse(.error(404, "notFound", "there is nothing at \(head.path.prefix(100))"))
    }
    if case .verifyReceipt = route, head.method != route.method { return .refuse(VerifyReceiptRoute.notPosted) }
    guard head.method == route.method || (route.method == "GET" && head.method == "HEAD") else {
      var response = HTTPResponse.error(405, "methodNotAllowed", "this path takes \(route.method)")
      response.headers.append("Allow", route.method)
      return .refuse(response)
    }
    switch route {
    case .notification:
      guard sources.allow(peer: head.peer, forwardedFor: head.headers.all("X-Forwarded-For")) else {
        return .refuse(.error(403, "sourceNotAllowed", "notifications are taken from Apple's addresses only"))
      }
      return .admit(bodyLimit: NotificationRoute.bodyLimit)
    case .verifyReceipt: return .admit(bodyLimit: VerifyReceiptRoute.bodyLimit)
    case .evidence:
      if let refusal = refusal(of: head) { return .refuse(refusal) }
      return .admit(bodyLimit: EvidenceRoute.bodyLimit)
    case .purchases, .customers:
      if let refusal = refusal(of: head) { return .refuse(refusal) }
      return .admit(bodyLimit: 0)
    case .alive, .ready, .metrics: return .admit(bodyLimit: 0)
    }
  }

  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch Route(path: request.path) {
    case .notification(let app): return await notifications.respond(to: request, pathApp: app)
    case .verifyReceipt(let environment): return await receipts.respond(to: request, environment: environment)
    case .evidence:
      switch await authorize(request.head, for: nil) {
      case .failure(let refusal): return refusal.response
      case .success(let app): return await evidence.respond(to: request, app: app)
      }
    case .purchases(let bundleID, let id):
      switch await authorize(request.head, for: bundleID) {
      case .failure(let refusal): return refusal.response
      case .success(let app): return await purchases.respond(to: request, app: app, id: id, extent: .purchases)
      }
    case .customers(let bundleID, let id):
      switch await authorize(request.head, for: bundleID) {
      case .failure(let refusal): return refusal.response
      case .success(let app): return await purchases.respond(to: request, app: app, id: id, extent: .customers)
      }
    case .alive: return health.alive()
    case .ready: return health.ready()
    case .metrics: return health.metricsPage()
    case nil: return .error(404, "notFound", "there is nothing here")
    }
  }

  private struct Denied: Error { let response: HTTPResponse }

  /// What can be refused of a request without asking anybody: one without a token.
  private func refusal(of head: HTTPRequestHead) -> HTTPResponse? {
    head.bearerToken == nil ? .unauthorized("send Authorization: Bearer with the app's token") : nil
  }

  /// The app whose bearer token the request carries; it must be `bundleID` when the path names one.
  private func authorize(_ head: HTTPRequestHead, for bundleID: String?) async -> Result<App, Denied> {
    let token = head.bearerToken ?? ""
    var app = registry.directory.app(token: token)
    if app == nil { app = await registry.refreshed(atMostEvery: Self.patience).app(token: token) }
    guard let app else {
      return .failure(Denied(response: .unauthorized("the token is not known; `switchyard app token` makes one")))
    }
    if let bundleID, bundleID != app.bundleID {
      return .failure(Denied(response: .error(403, "wrongApp", "the token is for another app")))
    }
    return .success(app)
  }

  /// Guesses at tokens cost the database one query in this time.
  static let patience = Duration.milliseconds(250)
}

extension HTTPRequestHead {
  fileprivate var bearerToken: String? {
    guard let header = headers["Authorization"], header.lowercased().hasPrefix("bearer ") else { return nil }
    return String(header.dropFirst("bearer ".count))
  }
}

/// The paths there are.
private enum Route {
  case notification(app: String?)
  case verifyReceipt(Environment)
  case evidence
  case purchases(app: String, id: String)
  case customers(app: String, id: String)
  case alive, ready, metrics

  init?(path: String) {
    let parts = path.split(separator: "/").map(String.init)
    switch parts.count {
    case 1 where parts[0] == "notifications": self = .notification(app: nil)
    case 2 where parts[0] == "notifications": self = .notification(app: parts[1])
    case 1 where parts[0] == "verifyReceipt": self = .verifyReceipt(.production)
    case 2 where parts == ["sandbox", "verifyReceipt"]: self = .verifyReceipt(.sandbox)
    case 2 where parts == ["v1", "evidence"]: self = .evidence
    case 5 where parts[0] == "v1" && parts[1] == "apps" && parts[3] == "purchases":
      self = .purchases(app: parts[2], id: parts[4])
    case 5 where parts[0] == "v1" && parts[1] == "apps" && parts[3] == "customers":
      self = .customers(app: parts[2], id: parts[4])
    case 1 where parts[0] == "livez": self = .alive
    case 1 where parts[0] == "readyz": self = .ready
    case 1 where parts[0] == "metrics": self = .metrics
    default: return nil
    }
  }

  var method: String {
    switch self {
    case .notification, .verifyReceipt, .evidence: "POST"
    case .purchases, .customers, .alive, .ready, .metrics: "GET"
    }
  }
}

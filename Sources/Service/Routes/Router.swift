package import HTTPServer
import Intake
import JSON
import Ledger
import Purchases
import Time

/// Sends each request to the route of its path, after rejecting requests that need no body.
package struct Router: HTTPHandler {
  private let notifications: NotificationRoute
  private let receipts: VerifyReceiptRoute
  private let evidence: SubmissionRoute
  private let purchases: PurchasesRoute
  private let health: HealthRoute
  /// Whether this listener serves `/metrics`, and the reason why the service is not ready.
  private let showsMetrics: Bool
  private let sources: IPAllowlist
  private let callers: CallerClassifier
  private let registry: AppRegistry

  init(
    notifications: NotificationRoute, receipts: VerifyReceiptRoute, evidence: SubmissionRoute,
    purchases: PurchasesRoute,
    health: HealthRoute, showsMetrics: Bool, sources: IPAllowlist, callers: CallerClassifier, registry: AppRegistry
  ) {
    self.notifications = notifications
    self.receipts = receipts
    self.evidence = evidence
    self.purchases = purchases
    self.health = health
    self.showsMetrics = showsMetrics
    self.sources = sources
    self.callers = callers
    self.registry = registry
  }

  package func admit(_ head: HTTPRequestHead) -> HTTPAdmission {
    guard let route = Route(head) else {
      return .refuse(.error(404, "notFound", "there is nothing here"), because: "notFound")
    }
    if case .verifyReceipt = route, head.method != route.method {
      return .refuse(VerifyReceiptRoute.notPosted, because: "methodNotAllowed")
    }
    guard head.method == route.method || (route.method == "GET" && head.method == "HEAD") else {
      var response = HTTPResponse.error(405, "methodNotAllowed", "this path takes \(route.method)")
      response.headers.append("Allow", route.method)
      return .refuse(response, because: "methodNotAllowed")
    }
    let caller = caller(of: head)
    switch route {
    case .notification:
      guard sources.allow(peer: head.peer, forwardedFor: head.headers.all("X-Forwarded-For")) else {
        return .refuse(
          .error(403, "sourceNotAllowed", "notifications are taken from Apple's addresses only"),
          because: "sourceNotAllowed")
      }
      return .admit(bodyLimit: NotificationRoute.bodyLimit, as: caller)
    case .verifyReceipt: return .admit(bodyLimit: VerifyReceiptRoute.bodyLimit, as: caller)
    case .evidence: return admit(head, for: nil, bodyLimit: SubmissionRoute.bodyLimit)
    case .purchases(let app, _), .customers(let app, _): return admit(head, for: app, bodyLimit: 0)
    case .metrics where !showsMetrics:
      return .refuse(
        .error(404, "notFound", "metrics are not served to the public; see --metrics-listen"),
        because: "metricsElsewhere")
    case .alive, .ready, .metrics: return .admit(bodyLimit: 0, as: caller)
    }
  }

  package func caller(of head: HTTPRequestHead) -> CallerClass? { callers.caller(of: head) }

  /// Admits a request with a valid token, before a byte of its body is accepted.
  ///
  /// An unknown token is looked up first, because another process may have just created it.
  private func admit(_ head: HTTPRequestHead, for bundleID: String?, bodyLimit: Int) -> HTTPAdmission {
    guard let token = head.bearerToken else {
      return .refuse(.unauthorized("send Authorization: Bearer with the app's token"), because: "noToken")
    }
    if let app = registry.directory.app(token: token) { return Self.admit(app, for: bundleID, bodyLimit) }
    return .decide { [registry] in
      guard let app = await registry.refreshed(atMostEvery: Self.patience).app(token: token) else {
        return .refuse(
          .unauthorized("the token is not known; `switchyard app token` makes one"), because: "unknownToken")
      }
      return Self.admit(app, for: bundleID, bodyLimit)
    }
  }

  private static func admit(_ app: App, for bundleID: String?, _ bodyLimit: Int) -> HTTPAdmission {
    guard bundleID == nil || bundleID == app.bundleID else {
      return .refuse(.error(403, "wrongApp", "the token is for another app"), because: "wrongApp")
    }
    return .admit(bodyLimit: bodyLimit, as: .known)
  }

  package func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch Route(request.head) {
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
    case .ready: return health.ready(saysWhy: showsMetrics)
    case .metrics: return health.metricsPage()
    case nil: return .error(404, "notFound", "there is nothing here")
    }
  }

  private struct Denied: Error { let response: HTTPResponse }

  /// Returns the app of the request's bearer token; it must be `bundleID` if the path names one.
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
  /// The token of `Authorization: Bearer`.
  var bearerToken: String? {
    guard let header = headers["Authorization"], header.lowercased().hasPrefix("bearer ") else { return nil }
    return String(header.dropFirst("bearer ".count))
  }
}

private enum Route {
  case notification(app: String?)
  case verifyReceipt(Environment)
  case evidence
  case purchases(app: String, id: String)
  case customers(app: String, id: String)
  case alive, ready, metrics

  /// Returns `nil` for every other path.
  ///
  /// A path has one spelling only, without a host and without escapes, so that a proxy can reject it. The URLs of
  /// notifications and verifyReceipt are in App Store Connect and old apps, perhaps with an extra slash.
  init?(_ head: HTTPRequestHead) {
    guard head.rawTarget.utf8.first == UInt8(ascii: "/") else { return nil }
    self.init(path: head.path)
    switch self {
    case .notification, .verifyReceipt: if head.writtenPath.utf8.contains(UInt8(ascii: "%")) { return nil }
    case .evidence, .alive, .ready, .metrics:
      guard head.writtenPath == head.path, !head.path.hasSuffix("/") else { return nil }
    case .purchases, .customers:
      // IDs may contain escapes, fixed words may not.
      let written = head.writtenPath.split(separator: "/", omittingEmptySubsequences: false)
      let read = head.path.split(separator: "/", omittingEmptySubsequences: false)
      guard written.count == 6, [0, 1, 2, 4].allSatisfy({ written[$0] == read[$0] }) else { return nil }
    }
  }

  private init?(path: String) {
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

import Adapter
import Delivery
import HTTPClient
import HTTPServer
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Signing
import Time

/// The stage `legacy` for notifications: to the app's old back end while Apple waits, its status returned to Apple.
///
/// Nothing is stored and nothing is verified: the body goes byte for byte to the URL of the app it claims to be of, where
/// such bodies were taken, and checked or not, before us. Without an answer in time Apple hears 503 and sends it again.
struct PassThrough: Sendable {
  let post: Delivery.Post
  /// From the connection to the old back end's whole answer; below the time in which the server has to answer.
  let within: Interval
  /// Under which the codes of the apps' shared secrets are made.
  let key: MasterKey
  let metrics: ServiceMetrics
  let logger: Logger

  private static let responseLimit = 64 << 10

  /// The one place that decides whether a notification is passed through: nil when it is to be recorded.
  ///
  /// The app is the one in the URL, else the one that the body claims, else the only one whose shared secret it has;
  /// the environment is the body's. What tells neither is recorded, which comes to quarantine or a refusal.
  func route(_ body: [UInt8], pathApp: String?, in directory: AppDirectory) -> Route? {
    guard directory.passesAnythingThrough else { return nil }
    let sender = ClaimedSender(ofNotification: body)
    guard let app = app(of: sender, body, pathApp, in: directory), let environment = sender.environment else {
      return nil
    }
    let scope = Ledger.Scope(app: app.id, environment: environment)
    switch directory.flag(of: scope)?.stage.notifications {
    case .passThrough:
      return Route(
        app: app.bundleID, environment: environment, generation: sender.generation,
        destination: directory.legacyDestination(of: scope))
    case .record, nil: return nil
    }
  }

  private func app(
    of sender: ClaimedSender, _ body: [UInt8], _ pathApp: String?, in directory: AppDirectory
  ) -> App? {
    if let named = pathApp ?? sender.app { return directory[named] }
    // Before 2020 V1 bodies had no `bid`.
    let code = Adapter.legacyBody(body).flatMap { LegacyPassword.code(ofReceived: $0, key: key) }
    let holders = code.map(directory.apps(withSecret:)) ?? []
    return holders.count == 1 ? holders[0] : nil
  }

  struct Route: Sendable {
    let app: String
    let environment: Environment
    let generation: ClaimedSender.Generation
    /// Nil when none is enabled.
    let destination: Destination?
  }

  /// The old back end's status, or 503.
  ///
  /// - Parameter message: how it would be known in `record`. The `webhook-id` is the same there, so that what was heard in
  ///   one stage and is sent again in the other is known as a repeat.
  func send(
    _ body: [UInt8], of message: Digest, contentType: String?, along route: Route
  ) async -> HTTPResponse {
    guard let destination = route.destination else {
      note(route, "noURL")
      logger.error(
        "in legacy without a legacy URL: `switchyard app legacy-url`", metadata: ["app": "\(route.app)"])
      return .unavailable("noLegacyURL", "the app has no back end to pass notifications through to")
    }
    let request = ClientRequest(
      method: "POST", url: destination.url,
      headers: [
        ("Content-Type", contentType ?? "application/json"),
        ("webhook-id", Envelope.webhookID(of: message, for: destination)),
      ],
      body: body, deadline: within, responseLimit: Self.responseLimit)
    switch await post(request) {
    case .delivered(let status), .failed(.status(let status)):
      note(route, "\(status)")
      return .object(status, ["status": "passedThrough"])
    case .failed(let reason):
      note(route, "none")
      logger.warning(
        "not passed through; Apple sends it again",
        metadata: ["app": "\(route.app)", "host": "\(destination.host)", "reason": "\(reason)"])
      return .unavailable("notPassedThrough", "the app's back end gave no answer in time")
    }
  }

  private func note(_ route: Route, _ status: String) {
    metrics.passedThrough[route.app, route.environment.rawValue, route.generation.rawValue, status].increment()
  }
}

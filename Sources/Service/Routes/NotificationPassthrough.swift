import Adapter
import Delivery
import HTTPClient
import HTTPServer
import Intake
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Signing
import Time

/// The stage `legacy` for notifications: sends them to the app's destination while Apple waits, and returns its status
/// to Apple.
///
/// Nothing is stored. The body goes unchanged to the URL of the app that it claims, as before Switchyard. Without a
/// response in time Apple gets 503 and resends. Messages from Apple's networks are not verified. All others are, to
/// select their queue (`PassthroughLimiter`), so that strangers can fill only their own.
struct NotificationPassthrough: Sendable {
  let post: Delivery.Post
  let intake: IngestDecider
  let callers: CallerClassifier
  let sources: IPAllowlist
  private let slots = PassthroughLimiter()
  private let rates = AddressRateLimiter(Rate(burst: 100, perSecond: 1))
  private let busyPace = LogRateLimiter()
  private let ratePace = LogRateLimiter()
  private let failurePace = LogRateLimiter(10)
  /// The limit from the connection to the destination's whole response, below the server's own response limit.
  let within: Interval
  let metrics: ServiceMetrics
  let logger: Logger

  private static let responseLimit = 64 << 10

  init(
    post: @escaping Delivery.Post, intake: IngestDecider, callers: CallerClassifier, sources: IPAllowlist,
    within: Interval,
    metrics: ServiceMetrics, logger: Logger
  ) {
    self.post = post
    self.intake = intake
    self.callers = callers
    self.sources = sources
    self.within = within
    self.metrics = metrics
    self.logger = logger
  }

  /// Passes a notification through if its app's stage requires it; `nil` if it must be recorded.
  ///
  /// Also recorded are unverified messages if the app's policy forbids forwarding them, or if they have another app's
  /// shared secret. Those are quarantined.
  ///
  /// - Parameter message: its identity in `record`. The `webhook-id` is the same there, so that a message sent again
  ///   after a stage change is detected as a duplicate.
  func answer(
    _ request: HTTPRequest, _ message: InboxMessage, _ body: ReceivedBody, pathApp: String?,
    in directory: AppRegistrySnapshot
  ) async -> HTTPResponse? {
    guard let route = route(body, pathApp: pathApp, in: directory) else { return nil }
    let sender = callers.client(of: request.head)
    let lane =
      callers.caller(at: sender.bytes) == .apple
      ? .apple : lane(of: message, body, along: route, pathApp: pathApp, in: directory)
    if lane == .unproven {
      guard directory.forwardsUnproven(route.app),
        sources.mayStandForApple(sender)
          || body.legacyNotification.map({ directory.isOfAnother($0, than: route.app) }) != true
      else { return nil }
      guard sources.mayStandForApple(sender) || rates.take(sender) else {
        metrics.passThroughRefused[lane.rawValue, "rate"].increment()
        tell(of: sender, route)
        return .tooManyUnproven
      }
    }
    return await send(
      request.body, of: message.digest, contentType: request.head.headers["Content-Type"], along: route,
      in: lane)
  }

  /// Returns the queue of a message that does not come from Apple's networks.
  private func lane(
    of message: InboxMessage, _ body: ReceivedBody, along route: Route, pathApp: String?,
    in directory: AppRegistrySnapshot
  ) -> PassthroughLimiter.Lane {
    switch route.generation {
    case .v1:
      return secret(in: body).map { directory.accepts($0, of: route.app) } == true ? .claimed : .unproven
    case .v2, .other:
      let decision = try? intake.notification(message, body, pathApp: pathApp, directory: directory)
      guard let decision else { return .unproven }
      if decision.reading != nil { return decision.entry.proof == .proven ? .proven : .unproven }
      return decision.refusal?.isSigned(for: route.app) == true ? .proven : .unproven
    }
  }

  /// Decides whether a notification is passed through; `nil` if it must be recorded.
  ///
  /// The app is the one in the URL, otherwise the claimed one, otherwise the only one with its shared secret. The
  /// environment is the body's. A message without either is recorded, and then quarantined or rejected.
  private func route(_ body: ReceivedBody, pathApp: String?, in directory: AppRegistrySnapshot) -> Route? {
    guard directory.passesAnythingThrough else { return nil }
    let sender = UnverifiedSender(ofNotification: body)
    guard let app = app(of: sender, body, pathApp, in: directory), let environment = sender.environment else {
      return nil
    }
    let scope = AppScope(app: app.id, environment: environment)
    switch directory.flag(of: scope)?.stage.notifications {
    case .passThrough:
      return Route(
        app: app, environment: environment, generation: sender.generation,
        destination: directory.legacyDestination(of: scope))
    case .record, nil: return nil
    }
  }

  private func app(
    of sender: UnverifiedSender, _ body: ReceivedBody, _ pathApp: String?, in directory: AppRegistrySnapshot
  ) -> App? {
    if let named = pathApp ?? sender.app { return directory[named] }
    // Before 2020 V1 bodies had no `bid`.
    let holders = secret(in: body).map(directory.apps(withSecret:)) ?? []
    return holders.count == 1 ? holders[0] : nil
  }

  /// The shared secret in a V1 body.
  private func secret(in body: ReceivedBody) -> String? { body.legacyNotification?["password"]?.string }

  private struct Route: Sendable {
    let app: App
    let environment: Environment
    let generation: UnverifiedSender.Generation
    /// `nil` without an enabled one.
    let destination: Destination?
  }

  /// Returns the destination's status, or 503.
  private func send(
    _ body: [UInt8], of message: Digest, contentType: String?, along route: Route, in lane: PassthroughLimiter.Lane
  ) async -> HTTPResponse {
    guard let destination = route.destination else {
      note(route, "noURL")
      if let others = failurePace.turn(of: "noURL \(lane.rawValue) \(route.app.bundleID)") {
        logger.error(
          "in legacy without a legacy URL: `switchyard app legacy-url`",
          metadata: ["app": "\(route.app.bundleID)", "leftOut": "\(others)"])
      }
      return .unavailable("noLegacyURL", "the app has no back end to pass notifications through to")
    }
    guard slots.take(lane, to: destination) else { return busy(lane, route) }
    defer { slots.give(back: lane, to: destination) }
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
      if let others = failurePace.turn(of: "none \(lane.rawValue) \(route.app.bundleID)") {
        logger.warning(
          "not passed through; Apple sends it again",
          metadata: [
            "app": "\(route.app.bundleID)", "host": "\(destination.host)", "reason": "\(reason)",
            "leftOut": "\(others)",
          ])
      }
      return .unavailable("notPassedThrough", "the app's back end gave no answer in time")
    }
  }

  /// Responds when all slots of a queue are taken, because the destination is slow or a stranger sends much.
  private func busy(_ lane: PassthroughLimiter.Lane, _ route: Route) -> HTTPResponse {
    metrics.passThroughRefused[lane.rawValue, "full"].increment()
    if let others = busyPace.turn(of: lane.rawValue) {
      logger.warning(
        "pass-through share used up; senders are answered 503",
        metadata: [
          "class": "\(lane.rawValue)", "app": "\(route.app.bundleID)", "most": "\(lane.most ?? 0)",
          "messagesSinceLastLine": "\(others + 1)",
        ])
    }
    return .unavailable("passThroughBusy", "too many messages of this kind are in flight to the app's back end")
  }

  /// Logs the address that exceeds the rate, which may be a proxy that passes on Apple's messages.
  private func tell(of sender: PeerAddress, _ route: Route) {
    guard let others = ratePace.turn(of: "rate") else { return }
    logger.warning(
      "notifications not passed through: refused with 429",
      metadata: [
        "address": "\(sender)", "app": "\(route.app.bundleID)", "refusedSinceLastLine": "\(others + 1)",
        "advice": "\(RateLimitedSender.advice)",
      ])
  }

  private func note(_ route: Route, _ status: String) {
    metrics.passedThrough[route.app.bundleID, route.environment.rawValue, route.generation.rawValue, status].increment()
  }
}

extension HTTPResponse {
  /// Rejects the message; Apple would resend it, and its networks have no such limit.
  fileprivate static var tooManyUnproven: Self {
    var response = error(
      429, "tooManyUnproven",
      "too many unverified messages from this address; they are not passed on for now")
    response.headers.append("Retry-After", "60")
    return response
  }
}

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

/// The stage `legacy` for notifications: to the app's old back end while Apple waits, its status returned to Apple.
///
/// Nothing is stored: the body goes byte for byte to the URL of the app it claims to be of, where such bodies were taken,
/// and checked or not, before us. Without an answer in time Apple hears 503 and sends it again.
///
/// What comes from Apple's networks is not even verified. Everything else is, to know in which lane it goes
/// (`PassthroughLimiter`): strangers can fill their own only.
struct NotificationPassthrough: Sendable {
  let post: Delivery.Post
  let intake: IngestDecider
  let callers: CallerClassifier
  let sources: IPAllowlist
  private let slots = PassthroughLimiter()
  /// How often one address may have passed through what nothing vouches for.
  private let rates = AddressRateLimiter(Rate(burst: 100, perSecond: 1))
  private let busyPace = LogRateLimiter()
  private let ratePace = LogRateLimiter()
  private let failurePace = LogRateLimiter(10)
  /// From the connection to the old back end's whole answer; below the time in which the server has to answer.
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

  /// Passes a notification through, if its app is in a stage that does; nil when it is to be recorded.
  ///
  /// Recorded is also what nothing vouches for if the app's policy is not to forward it, or it has another app's shared secret:
  /// it comes to quarantine.
  ///
  /// - Parameter message: as it would be known in `record`. The `webhook-id` is the same there, so that what was heard in
  ///   one stage and is sent again in the other is known as a repeat.
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

  /// Returns in which lane a message goes that does not come from Apple's networks.
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

  /// The one place that decides whether a notification is passed through: nil when it is to be recorded.
  ///
  /// The app is the one in the URL, else the one that the body claims, else the only one whose shared secret it has;
  /// the environment is the body's. What tells neither is recorded, which comes to quarantine or a refusal.
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
    /// Nil when none is enabled.
    let destination: Destination?
  }

  /// Returns the old back end's status, or 503.
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

  /// All slots of a lane are taken: the old back end is slow, or a stranger sends much.
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

  /// Says which address is held to the rate: it may be a proxy that passes on what Apple sends.
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
  /// Not passed on; Apple, whose networks have no such limit, would send it again.
  fileprivate static var tooManyUnproven: Self {
    var response = error(
      429, "tooManyUnproven",
      "too many unverified messages from this address; they are not passed on for now")
    response.headers.append("Retry-After", "60")
    return response
  }
}

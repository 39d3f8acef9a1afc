import Adapter
import HTTPServer
import JSON
import Ledger
import Runtime
import Signing
import Time

/// `POST /notifications` and `/notifications/{app}`: what Apple sends.
///
/// 200 means committed, be it accepted or set aside with its reason; 400 that it is not even JSON or a JWS; 503 that
/// nothing was stored and Apple should send it again.
package struct NotificationRoute: Sendable {
  static let bodyLimit = 1 << 20

  private let intake: Intake
  private let registry: Registry
  private let commit: GroupCommit
  private let passThrough: PassThrough
  private let key: MasterKey
  private let sources: AllowedSources
  private let junk: JunkAllowance
  private let metrics: ServiceMetrics
  private let clock: WallClock
  private let logger: Logger

  init(
    intake: Intake, registry: Registry, commit: GroupCommit, passThrough: PassThrough, key: MasterKey,
    sources: AllowedSources, junk: JunkAllowance, metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    self.intake = intake
    self.registry = registry
    self.commit = commit
    self.passThrough = passThrough
    self.key = key
    self.sources = sources
    self.junk = junk
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, pathApp: String?) async -> HTTPResponse {
    let start = ContinuousClock.now
    // What is logged of a request must not be a secret that somebody put into the URL.
    let pathApp = pathApp.map(HiddenSecrets.shown)
    let response = await take(request, pathApp: pathApp, attemptsLeft: Self.attempts)
    metrics.receiveSeconds["notifications"].record(ContinuousClock.now - start)
    return response
  }

  /// How often it is decided what to do while the app's stage changes again and again.
  private static let attempts = 3

  /// Passes it through or records it, as the app's stage is known to be.
  private func take(_ request: HTTPRequest, pathApp: String?, attemptsLeft: Int) async -> HTTPResponse {
    let message = message(request.body)
    if let route = passThrough.route(request.body, pathApp: pathApp, in: registry.directory) {
      return await passThrough.send(
        request.body, of: message.digest, contentType: request.head.headers["Content-Type"], along: route)
    }
    return await receive(message, of: request, pathApp: pathApp, attemptsLeft: attemptsLeft)
  }

  private func message(_ received: [UInt8]) -> InboxMessage {
    // Whatever else it is: no secret is kept because a signature stands beside it.
    var body = received
    if LegacyPassword.mayBe(in: received) || HiddenSecrets.hasDigits(in: received) {
      let directory = registry.directory
      body = LegacyPassword.redacted(received, key: key) { !directory.apps(withSecret: $0).isEmpty }
    }
    return InboxMessage(
      kind: .notification, body: Adapter.kept(ofNotification: body),
      identity: Adapter.identity(ofNotification: body), receivedAt: clock.now())
  }

  private func receive(
    _ message: InboxMessage, of request: HTTPRequest, pathApp: String?, attemptsLeft: Int
  ) async -> HTTPResponse {
    let now = message.receivedAt
    let decision: Intake.Decision
    do throws(Refusal) {
      var first = try decide(message, pathApp, registry.directory, now)
      if let code = first.refusal?.code, Self.mendable.contains(code) {
        let directory = await registry.refreshed(atMostEvery: Router.patience)
        if let route = passThrough.route(request.body, pathApp: pathApp, in: directory) {
          return await passThrough.send(
            request.body, of: message.digest, contentType: request.head.headers["Content-Type"], along: route)
        }
        first = try decide(message, pathApp, directory, now)
      }
      decision = first
    } catch {
      note("unreadable", app: pathApp, refusal: error)
      return .error(400, error.code, error.detail)
    }
    if let source = decision.junkSource, !mayKeep(message, from: request.head) {
      notKept(source, "rate", decision, message)
      return .tooMuchJunk
    }
    do throws(GroupCommit.Failure) {
      return answer(try await commit.append(decision.entry), decision, message)
    } catch GroupCommit.Failure.stageChanged where attemptsLeft > 1 {
      _ = await registry.refreshed(atMostEvery: Router.patience)
      return await take(request, pathApp: pathApp, attemptsLeft: attemptsLeft - 1)
    } catch GroupCommit.Failure.diskFull {
      // Said once in the log, when the disk filled.
      metrics.messages["notifications", decision.reading?.app ?? "", "failed"].increment()
      if case .quarantined(let refusal) = decision.entry.content {
        metrics.notKept[refusal.source.rawValue, "disk"].increment()
      }
      return .notWritten(.diskFull)
    } catch {
      metrics.messages["notifications", decision.reading?.app ?? "", "failed"].increment()
      logger.error("not stored", metadata: ["error": "\(error)", "message": "\(message.digest.hex.prefix(12))"])
      return .notWritten(error)
    }
  }

  /// What a registration of the last seconds may have mended: the directory is read again before these are refused.
  private static let mendable = Set(
    [Refusal.Code.unknownApp, .appNotNamed, .noSharedSecret, .wrongSharedSecret].map(\.rawValue))

  private func decide(
    _ message: InboxMessage, _ pathApp: String?, _ directory: AppDirectory, _ now: Milliseconds
  ) throws(Refusal) -> Intake.Decision {
    let start = ContinuousClock.now
    defer { metrics.verifySeconds["notifications"].record(ContinuousClock.now - start) }
    return try intake.notification(message, pathApp: pathApp, directory: directory, now: now)
  }

  private func answer(_ appended: Appended, _ decision: Intake.Decision, _ message: InboxMessage) -> HTTPResponse {
    if let refusal = decision.refusal {
      note(appended.rawValue, app: refusal.claimedApp, refusal: refusal, message)
    } else if let reading = decision.reading {
      metrics.messages["notifications", reading.app, appended.rawValue].increment()
      metrics.count(reading.survey)
      logger.debug(
        "received",
        metadata: [
          "app": "\(reading.app)", "title": "\(reading.title)", "outcome": "\(appended.rawValue)",
          "message": "\(message.digest.hex.prefix(12))",
        ])
    }
    switch appended {
    case .stored, .duplicate, .quarantined, .quarantinedBefore:
      return .object(200, ["status": .string(appended.rawValue)])
    case .stageChanged: return .notWritten(.stageChanged)
    case .quarantineFull:
      if case .quarantined(let refusal) = decision.entry.content {
        metrics.notKept[refusal.source.rawValue, "quota"].increment()
      }
      return .unavailable(
        "quarantineFull", "quarantine keeps no more of this kind; `switchyard quarantine replay` or `purge` makes room")
    }
  }

  /// Whether the sender's address has not sent more junk than is kept of one.
  private func mayKeep(_ message: InboxMessage, from head: HTTPRequestHead) -> Bool {
    let sender = sources.sender(peer: head.peer, forwardedFor: head.headers.all("X-Forwarded-For")) ?? head.peer
    return junk.take(message.body.count, from: sender, at: message.receivedAt)
  }

  /// Counts what is not kept; a stranger must not fill the log either.
  private func notKept(
    _ source: QuarantineSource, _ reason: String, _ decision: Intake.Decision, _ message: InboxMessage
  ) {
    metrics.messages["notifications", "", "notKept"].increment()
    if let refusal = decision.refusal { metrics.refusals["notifications", refusal.code].increment() }
    metrics.notKept[source.rawValue, reason].increment()
    logger.debug(
      "not kept",
      metadata: [
        "reason": "\(reason)", "source": "\(source.rawValue)", "message": "\(message.digest.hex.prefix(12))",
      ])
  }

  private func note(_ outcome: String, app: String?, refusal: Refusal, _ message: InboxMessage? = nil) {
    // The claimed app is a stranger's word: no label of a metric.
    metrics.messages["notifications", "", outcome].increment()
    metrics.refusals["notifications", refusal.code].increment()
    logger.notice(
      "not accepted",
      metadata: [
        "reason": "\(refusal.code)", "detail": "\(refusal.detail)", "claimedApp": "\(app ?? "-")",
        "outcome": "\(outcome)", "message": "\(message.map { String($0.digest.hex.prefix(12)) } ?? "-")",
      ])
  }
}

extension Intake.Decision {
  /// The source of an unproven message; nil for every other.
  ///
  /// A V1 message of an app without a registered shared secret does not count: until the operator registers it, Apple's own
  /// messages look like that, and they come from one address if the proxy is not named yet.
  fileprivate var junkSource: QuarantineSource? {
    guard case .quarantined(let refusal) = entry.content, !refusal.source.isApple,
      refusal.code != Refusal.Code.noSharedSecret.rawValue
    else { return nil }
    return refusal.source
  }
}

extension HTTPResponse {
  /// Nothing was stored; Apple, whose addresses have no such limit, would send it again.
  fileprivate static var tooMuchJunk: Self {
    var response = error(
      429, "tooManyUnproven", "too many messages of this address that nothing vouches for; none of them is kept for now"
    )
    response.headers.append("Retry-After", "60")
    return response
  }
}

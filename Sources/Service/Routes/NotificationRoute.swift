import Adapter
import HTTPServer
import Intake
import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// `POST /notifications` and `/notifications/{app}`: Apple's notifications.
///
/// 200 means committed, either accepted or quarantined with its reason. 400 means neither JSON nor a JWS. 503 means
/// that nothing was stored and Apple should resend.
package struct NotificationRoute: Sendable {
  private let intake: IngestDecider
  let registry: AppRegistry
  private let commit: GroupCommit
  private let passThrough: NotificationPassthrough
  let sources: IPAllowlist
  let callers: CallerClassifier
  private let junk: SenderRateLimiter
  let claims: SenderRateLimiter
  let claimedStock: DailyByteQuota
  let claimedIDs = LookupQuota()
  let claimPace = LogRateLimiter()
  private let refusalPace = LogRateLimiter(10)
  private let failurePace = LogRateLimiter(10)
  /// Reads slow bodies that do not come from Apple.
  ///
  /// On the threads that serve connections, thirty V1 bodies of 1 MiB a second would delay Apple.
  private let strangers = WorkerThread(label: "strangers' notifications", longestLine: longestLine)
  /// Reads those of the operator's own back ends, and of senders that may be Apple.
  private let relayed = WorkerThread(label: "relayed notifications", longestLine: longestLine)
  let metrics: ServiceMetrics
  private let clock: WallClock
  let logger: Logger

  init(
    intake: IngestDecider, registry: AppRegistry, commit: GroupCommit, passThrough: NotificationPassthrough,
    sources: IPAllowlist, callers: CallerClassifier, junk: SenderRateLimiter, claims: SenderRateLimiter,
    claimedStock: DailyByteQuota, metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    self.intake = intake
    self.registry = registry
    self.commit = commit
    self.passThrough = passThrough
    self.sources = sources
    self.callers = callers
    self.junk = junk
    self.claims = claims
    self.claimedStock = claimedStock
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  func respond(to request: HTTPRequest, pathApp: String?) async -> HTTPResponse {
    let start = ContinuousClock.now
    let response: HTTPResponse
    if !isFromApple(request.head), Self.takesLong(request.body) {
      let thread = isVouchedFor(sender(of: request.head)) ? relayed : strangers
      let taken = await thread.run(size: request.body.count) {
        await take(request, pathApp: pathApp, attemptsLeft: Self.attempts)
      }
      if taken == nil { metrics.refusals["notifications", "tooManyWait"].increment() }
      response = taken ?? .notWritten(.overloaded)
    } else {
      response = await take(request, pathApp: pathApp, attemptsLeft: Self.attempts)
    }
    metrics.receiveSeconds["notifications"].record(ContinuousClock.now - start)
    return response
  }

  /// Whether a body is read on arrival only if Apple sent it.
  ///
  /// A forged V2 notification is mostly unread before the signature check; a V1 body is read completely, several times.
  static func takesLong(_ body: [UInt8]) -> Bool {
    body.count > short && (body.count > signed || !ReceivedBody.isSignedAlone(body))
  }

  /// The bytes of bodies that wait for the strangers' thread; more get 503 immediately.
  private static let longestLine = 2 << 20
  private static let short = 4 << 10
  /// Bytes of a signed one; Apple's have about 20,000.
  private static let signed = 32 << 10

  /// The number of decisions while the app's stage changes repeatedly.
  private static let attempts = 3

  /// Passes it through or records it, by the app's known stage.
  private func take(_ request: HTTPRequest, pathApp: String?, attemptsLeft: Int) async -> HTTPResponse {
    let (directory, body) = (registry.directory, ReceivedBody(request.body))
    let message = InboxMessage(notification: body, receivedAt: clock.now())
    if let answer = await passThrough.answer(request, message, body, pathApp: pathApp, in: directory) { return answer }
    return await receive(message, body, of: request, pathApp: pathApp, in: directory, attemptsLeft: attemptsLeft)
  }

  /// - Parameter directory: the one by which the message is not passed through.
  ///
  /// A later one could record a message of an app that has entered the stage `legacy`, with that stage's epoch. The
  /// commit would not reject it.
  private func receive(
    _ message: InboxMessage, _ body: ReceivedBody, of request: HTTPRequest, pathApp: String?,
    in directory: AppRegistrySnapshot, attemptsLeft: Int
  ) async -> HTTPResponse {
    let isFromApple = isFromApple(request.head)
    func decide(in directory: AppRegistrySnapshot) throws(MessageError) -> IngestDecider.IngestDecision {
      let start = ContinuousClock.now
      defer { metrics.verifySeconds["notifications"].record(ContinuousClock.now - start) }
      return try intake.notification(
        message, body, pathApp: pathApp, isFromApple: mayBeApple(request.head), directory: directory)
    }
    let decision: IngestDecider.IngestDecision
    do throws(MessageError) {
      var first = try decide(in: directory)
      if let code = first.refusal?.code, Self.mendable.contains(code) {
        let directory = await registry.refreshed(atMostEvery: Router.patience)
        if let answer = await passThrough.answer(request, message, body, pathApp: pathApp, in: directory) {
          return answer
        }
        first = try decide(in: directory)
      }
      decision = mayBeApple(request.head) ? first : first.ofStranger(in: registry.directory)
    } catch {
      // It is not stored, but a log line is: at most as many for each address as it may store messages.
      if mayKeep(message, from: request.head) {
        // A sender may have put a secret into the URL.
        note("unreadable", app: pathApp.map(registry.directory.secretFilter.redacted), refusal: error)
      } else {
        metrics.messages["notifications", "", "unreadable"].increment()
        metrics.refusals["notifications", error.code].increment()
      }
      return .error(400, error.code, error.detail)
    }
    if let source = decision.junkSource(from: sender(of: request.head), sources),
      !mayKeep(message, from: request.head)
    {
      notKept(source, "rate", decision, message)
      return .tooMuchJunk
    }
    guard mayClaim(decision, message, from: request.head) else {
      metrics.messages["notifications", "", "notKept"].increment()
      metrics.refusals["notifications", "tooManyClaims"].increment()
      tell(of: sender(of: request.head))
      return .tooManyClaims
    }
    var stock: DailyByteQuota.Taken?
    if let app = claimedOfStranger(decision, from: request.head) {
      stock = claimedStock.take(
        message.body.count, rows: decision.entry.weight, of: app, at: message.receivedAt)
      guard stock != nil else { return stockUsed(of: app, request.head) }
    }
    defer { if let stock { claimedStock.give(back: stock) } }
    do throws(GroupCommit.Failure) {
      let appended = try await commit.append(placed(decision, from: request.head))
      if appended == .stored { stock = nil }
      return answer(appended, decision, message)
    } catch GroupCommit.Failure.stageChanged where attemptsLeft > 1 {
      _ = await registry.refreshed(atMostEvery: Router.patience)
      return await take(request, pathApp: pathApp, attemptsLeft: attemptsLeft - 1)
    } catch GroupCommit.Failure.diskFull {
      // Logged once, when the disk filled.
      metrics.messages["notifications", decision.reading?.app ?? "", "failed"].increment()
      if case .quarantined(let refusal) = decision.entry.content {
        metrics.notKept[refusal.source.rawValue, "disk"].increment()
      }
      return .notWritten(.diskFull)
    } catch {
      metrics.messages["notifications", decision.reading?.app ?? "", "failed"].increment()
      if let leftOut = failurePace.turn(
        of: "\(decision.entry.proof) \(isFromApple) \(error == .overloaded)")
      {
        logger.error(
          "not stored",
          metadata: [
            "error": "\(error)", "message": "\(message.digest.hex.prefix(12))", "leftOut": "\(leftOut)",
          ])
      }
      return .notWritten(error)
    }
  }

  /// The rejections that a registration of the last seconds may have fixed; the directory is reread before these.
  private static let mendable = Set(
    [MessageError.Code.unknownApp, .appNotNamed, .noSharedSecret, .wrongSharedSecret].map(\.rawValue))

  private func answer(_ appended: AppendResult, _ decision: IngestDecider.IngestDecision, _ message: InboxMessage)
    -> HTTPResponse
  {
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
        "quarantineFull", "quarantine keeps no more of this kind; `switchyard quarantine replay` or `purge` frees space"
      )
    }
  }

  /// Whether the operator named the sender as its back end, or the sender may be Apple.
  func isVouchedFor(_ sender: PeerAddress) -> Bool {
    sources.mayStandForApple(sender) || callers.caller(at: sender.bytes) == .known
  }

  private func mayKeep(_ message: InboxMessage, from head: HTTPRequestHead) -> Bool {
    junk.take(message.body.count, from: sender(of: head), at: message.receivedAt)
  }

  func isFromApple(_ head: HTTPRequestHead) -> Bool { callers.caller(at: sender(of: head).bytes) == .apple }

  func mayBeApple(_ head: HTTPRequestHead) -> Bool {
    isFromApple(head) || sources.mayStandForApple(sender(of: head))
  }

  func sender(of head: HTTPRequestHead) -> PeerAddress { sources.client(of: head) }

  /// Counts a message that is not stored; a stranger must not fill the log either.
  private func notKept(
    _ source: QuarantineSource, _ reason: String, _ decision: IngestDecider.IngestDecision, _ message: InboxMessage
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

  private func note(_ outcome: String, app: String?, refusal: MessageError, _ message: InboxMessage? = nil) {
    // The claimed app is a stranger's text, so it is not a metric label.
    metrics.messages["notifications", "", outcome].increment()
    metrics.refusals["notifications", refusal.code].increment()
    // A stranger must neither fill the log nor hide the rejection of Apple's messages.
    guard let leftOut = refusalPace.turn(of: "\(refusal.kind) \(refusal.code)") else { return }
    logger.notice(
      "not accepted",
      metadata: [
        "reason": "\(refusal.code)", "detail": "\(refusal.detail)", "unconfirmedApp": "\(app ?? "-")",
        "outcome": "\(outcome)", "message": "\(message.map { String($0.digest.hex.prefix(12)) } ?? "-")",
        "leftOut": "\(leftOut)",
      ])
  }
}

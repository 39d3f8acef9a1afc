import Adapter
import HTTPServer
import Intake
import JSON
import Ledger
import Purchases
import Runtime
import Signing
import Time

/// `POST /notifications` and `/notifications/{app}`: what Apple sends.
///
/// 200 means committed, be it accepted or set aside with its reason; 400 that it is not even JSON or a JWS; 503 that
/// nothing was stored and Apple should send it again.
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
  /// Where bodies are read that do not come from Apple and take long: on the threads that serve connections, thirty V1 bodies
  /// of 1 MiB a second would keep Apple waiting.
  private let strangers = WorkerThread(label: "strangers' notifications", longestLine: longestLine)
  /// For those of the operator's own back ends, and of whoever cannot be told from Apple.
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

  /// Whether a body is read where it arrives only if Apple sent it.
  ///
  /// Of a V2 notification that is forged little is read before its signature; a V1 body is read to its end, several times.
  static func takesLong(_ body: [UInt8]) -> Bool {
    body.count > short && (body.count > signed || !ReceivedBody.isSignedAlone(body))
  }

  /// Bytes of the bodies that wait for their turn on the strangers' thread; more are answered 503 at once.
  private static let longestLine = 2 << 20
  /// Bytes of any body that is read where it arrives.
  private static let short = 4 << 10
  /// Bytes of a signed one; Apple's have about 20,000.
  private static let signed = 32 << 10

  /// How often it is decided what to do while the app's stage changes again and again.
  private static let attempts = 3

  /// Passes it through or records it, as the app's stage is known to be.
  private func take(_ request: HTTPRequest, pathApp: String?, attemptsLeft: Int) async -> HTTPResponse {
    let (directory, body) = (registry.directory, ReceivedBody(request.body))
    let message = InboxMessage(notification: body, receivedAt: clock.now())
    if let answer = await passThrough.answer(request, message, body, pathApp: pathApp, in: directory) { return answer }
    return await receive(message, body, of: request, pathApp: pathApp, in: directory, attemptsLeft: attemptsLeft)
  }

  /// - Parameter directory: by which the message is not passed through. What is decided by a later one could keep a message of an
  ///   app that has come to the stage `legacy` since, with that stage's epoch, which the commit does not refuse.
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
      // Kept nowhere, but a line of the log is: as many for each address as messages would be kept of it.
      if mayKeep(message, from: request.head) {
        // Somebody may have put a secret into the URL.
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
      // Said once in the log, when the disk filled.
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

  /// What a registration of the last seconds may have mended: the directory is read again before these are refused.
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

  /// Whether the operator named the sender as a back end of theirs, or it cannot be told from Apple.
  func isVouchedFor(_ sender: PeerAddress) -> Bool {
    sources.mayStandForApple(sender) || callers.caller(at: sender.bytes) == .known
  }

  /// Whether the sender's address has not sent more junk than is kept of one.
  private func mayKeep(_ message: InboxMessage, from head: HTTPRequestHead) -> Bool {
    junk.take(message.body.count, from: sender(of: head), at: message.receivedAt)
  }

  func isFromApple(_ head: HTTPRequestHead) -> Bool { callers.caller(at: sender(of: head).bytes) == .apple }

  func mayBeApple(_ head: HTTPRequestHead) -> Bool {
    isFromApple(head) || sources.mayStandForApple(sender(of: head))
  }

  func sender(of head: HTTPRequestHead) -> PeerAddress { sources.client(of: head) }

  /// Counts what is not kept; a stranger must not fill the log either.
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
    // The claimed app is a stranger's word: no label of a metric.
    metrics.messages["notifications", "", outcome].increment()
    metrics.refusals["notifications", refusal.code].increment()
    // A stranger must not fill the log, nor hide that something of Apple's was refused.
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

import Adapter
import Database
import Intake
import JSON
import Ledger
import Purchases
import Rollout
import Runtime
import Signing
import Synchronization
import Time

/// Ingests Apple's verifyReceipt responses into the ledger while their clients wait.
///
/// A client waits for the commit only up to `within`; then it gets its response, and the write continues. A response
/// that is not written is counted; usually the client asks again, and Apple responds again.
final class VerifyReceiptRecorder: Sendable {
  private let intake: IngestDecider
  private let registry: AppRegistry
  private let commit: GroupCommit
  private let within: Interval
  private let metrics: ServiceMetrics
  private let clock: WallClock
  private let logger: Logger
  private let pace = LogRateLimiter(10)
  private let repeated: ResponseDeduplicator
  private let bytes = Mutex(0)

  private static let bytesAtOnce = 64 << 20

  init(
    intake: IngestDecider, registry: AppRegistry, commit: GroupCommit, within: Interval, repeatedEvery: Interval,
    metrics: ServiceMetrics, clock: WallClock, logger: Logger
  ) {
    var settings = ResponseDeduplicator.Settings()
    settings.every = repeatedEvery
    repeated = ResponseDeduplicator(settings)
    self.intake = intake
    self.registry = registry
    self.commit = commit
    self.within = within
    self.metrics = metrics
    self.clock = clock
    self.logger = logger
  }

  /// Records a response with a receipt, for an app from `record` on; returns after the commit or `within`.
  func take(_ body: [UInt8], _ answer: JSONObject, environment: Environment) async {
    let receipt = answer["receipt"]?.object
    guard let bundleID = receipt?["bundle_id"]?.string ?? receipt?["bid"]?.string else {
      return metrics.receiptAnswers["unknownApp"].increment()
    }
    let directory = registry.directory
    let isKnown = directory[bundleID] != nil
    guard !isKnown || isRecorded(bundleID, environment, in: directory) else { return }
    let isRoom = bytes.withLock { bytes in
      guard bytes + body.count <= Self.bytesAtOnce else { return false }
      bytes += body.count
      return true
    }
    guard isRoom else { return metrics.receiptAnswers["overloaded"].increment() }
    let (committed, end) = AsyncStream<Never>.makeStream()
    // Not a child of its request, which it outlives when the database is slow; it ends at the latest with the commits.
    Task {
      // A just registered app requires a new directory.
      let directory = isKnown ? directory : await registry.refreshed(atMostEvery: Router.patience)
      if isKnown || isRecorded(bundleID, environment, in: directory), let app = directory[bundleID] {
        await record(
          ResponseDeduplicator.Answer(body, answer, of: app, environment: environment, receivedAt: clock.now()),
          app: app)
      }
      bytes.withLock { $0 -= body.count }
      end.finish()
    }
    // Responses of unknown apps do not wait for the refresh.
    guard isKnown else { return }
    let isLate = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in committed {}
        return false
      }
      group.addTask { [within] in
        try? await Task.sleep(for: .milliseconds(within.milliseconds))
        return true
      }
      let first = await group.next() ?? false
      group.cancelAll()
      return first
    }
    if isLate { metrics.receiptAnswers["late"].increment() }
  }

  /// Whether responses of the app are recorded; counts the reason if not.
  private func isRecorded(_ bundleID: String, _ environment: Environment, in directory: AppRegistrySnapshot) -> Bool {
    guard let app = directory[bundleID] else {
      metrics.receiptAnswers["unknownApp"].increment()
      return false
    }
    let scope = AppScope(app: app.id, environment: environment)
    guard let stage = directory.flag(of: scope)?.stage, stage != .legacy else {
      metrics.receiptAnswers["stageLegacy"].increment()
      return false
    }
    return true
  }

  private func record(_ answer: ResponseDeduplicator.Answer, app: App) async {
    switch repeated.turn(of: answer) {
    case .now: await write(answer, app: app)
    case .inPlaceOfAnother: metrics.receiptAnswers["repeated"].increment()
    case .later(let delay):
      metrics.receiptAnswers["repeated"].increment()
      // Outlives its request. A stop of the process loses only data that was recorded a minute before.
      Task {
        try? await Task.sleep(for: delay)
        if let held = repeated.release(answer.words) { await write(held, app: app) }
      }
    }
  }

  private func write(_ answer: ResponseDeduplicator.Answer, app: App) async {
    let message = InboxMessage(
      .verifyReceiptAnswer, answer.body, app: app.bundleID, claim: SubmissionMetadata(environment: answer.environment),
      receivedAt: answer.receivedAt)
    let decision = intake.answer(message, about: app)
    do throws(GroupCommit.Failure) {
      let appended = try await commit.append(decision.entry)
      metrics.receiptAnswers[appended.rawValue].increment()
      if let reading = decision.reading { metrics.count(reading.survey) }
      guard let refusal = decision.refusal else { return }
      metrics.refusals["verifyReceipt", refusal.code].increment()
      guard let leftOut = pace.turn(of: refusal.code) else { return }
      logger.notice(
        "a verifyReceipt response was not understood",
        metadata: [
          "reason": "\(refusal.code)", "detail": "\(refusal.detail)", "app": "\(app.bundleID)",
          "message": "\(message.digest.hex.prefix(12))", "leftOut": "\(leftOut)",
        ])
    } catch {
      metrics.receiptAnswers["failed"].increment()
      guard let leftOut = pace.turn(of: "notStored") else { return }
      logger.error(
        "a verifyReceipt response was not stored", metadata: ["error": "\(error)", "leftOut": "\(leftOut)"])
    }
  }
}

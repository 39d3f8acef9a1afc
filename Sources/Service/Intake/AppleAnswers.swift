import Adapter
package import Ledger
package import Purchases
package import Runtime
package import Seeding
import Signing
package import Time

/// Takes what the App Store Server API answered into the ledger, by the road that everything takes.
package struct AppleAnswers: Sendable {
  private let intake: Intake
  private let clock: WallClock
  private let logger: Logger
  private let append: @Sendable (Entry) async throws -> Appended

  /// - Parameter append: writes an entry and returns after commit.
  package init(
    intake: Intake, clock: WallClock, logger: Logger, append: @escaping @Sendable (Entry) async throws -> Appended
  ) {
    self.intake = intake
    self.clock = clock
    self.logger = logger
    self.append = append
  }

  /// Records an answer about `app`; what cannot be read is set aside and told in the log.
  package func take(_ body: [UInt8], _ app: App, _ environment: Environment) async -> HistoryLookUp.Recorded {
    let now = clock.now()
    let message = InboxMessage(
      kind: .apiAnswer, body: body,
      identity: Adapter.identity(ofEvidence: body, app: app.bundleID, environment: environment), receivedAt: now)
    let decision = intake.apiAnswer(message, app: app, environment: environment, now: now)
    do {
      _ = try await append(decision.entry)
    } catch {
      logger.error("an answer of Apple's was not stored; it is asked for again", metadata: ["error": "\(error)"])
      return .failed
    }
    if let reading = decision.reading { return .stored(reading.findings) }
    let code = decision.refusal?.code ?? "unread"
    logger.notice(
      "an answer of Apple's was not understood",
      metadata: [
        "reason": "\(code)", "detail": "\(decision.refusal?.detail ?? "")", "app": "\(app.bundleID)",
        "message": "\(message.digest.hex.prefix(12))",
      ])
    return .refused(code)
  }
}

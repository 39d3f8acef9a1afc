import Adapter
package import Intake
package import Ledger
package import Purchases
package import Runtime
package import Seeding
import Signing
package import Time

/// Ingests App Store Server API responses into the ledger, through the common path.
package struct APIResponseRecorder: Sendable {
  private let intake: IngestDecider
  private let clock: WallClock
  private let logger: Logger
  private let failedPace = LogRateLimiter()
  private let append: @Sendable (LedgerEntry) async throws -> AppendResult

  /// - Parameter append: writes an entry and returns after commit.
  package init(
    intake: IngestDecider, clock: WallClock, logger: Logger,
    append: @escaping @Sendable (LedgerEntry) async throws -> AppendResult
  ) {
    self.intake = intake
    self.clock = clock
    self.logger = logger
    self.append = append
  }

  /// Decodes a response about `app`; the caller must record it.
  ///
  /// An unreadable response is quarantined and logged.
  package func read(_ body: [UInt8], _ app: App, _ environment: Environment) -> DecodedAPIResponse {
    let now = clock.now()
    let message = InboxMessage(
      .apiAnswer, body, app: app.bundleID, claim: SubmissionMetadata(environment: environment), receivedAt: now)
    let decision = intake.answer(message, about: app)
    let (entry, refusal) = (decision.entry, decision.refusal)
    if let reading = decision.reading {
      return DecodedAPIResponse(.findings(reading.findings)) { await write(entry) }
    }
    let code = refusal?.code ?? "unread"
    return DecodedAPIResponse(.refused(code)) {
      guard await write(entry) else { return false }
      logger.notice(
        "a response of the App Store Server API was not understood",
        metadata: [
          "reason": "\(code)", "detail": "\(refusal?.detail ?? "")", "app": "\(app.bundleID)",
          "message": "\(message.digest.hex.prefix(12))",
        ])
      return true
    }
  }

  private func write(_ entry: LedgerEntry) async -> Bool {
    do {
      _ = try await append(entry)
      return true
    } catch {
      // A client with a receipt can cause many responses at the same time.
      if let others = failedPace.turn(of: "answer") {
        logger.error(
          "a response of the App Store Server API was not stored; it is requested again",
          metadata: ["error": "\(error)", "answersSinceLastLine": "\(others + 1)"])
      }
      return false
    }
  }
}

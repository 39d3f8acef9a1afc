import Adapter
package import Intake
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
  private let failedPace = LogPace()
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

  /// Reads an answer about `app`; recorded it is when that is asked for.
  ///
  /// What cannot be read is then set aside and told in the log.
  package func read(_ body: [UInt8], _ app: App, _ environment: Environment) -> ReadAnswer {
    let now = clock.now()
    let message = InboxMessage(
      .apiAnswer, body, app: app.bundleID, claim: Claim(environment: environment), receivedAt: now)
    let decision = intake.answer(message, about: app)
    let (entry, refusal) = (decision.entry, decision.refusal)
    if let reading = decision.reading {
      return ReadAnswer(.findings(reading.findings)) { await write(entry) }
    }
    let code = refusal?.code ?? "unread"
    return ReadAnswer(.refused(code)) {
      guard await write(entry) else { return false }
      logger.notice(
        "an answer of Apple's was not understood",
        metadata: [
          "reason": "\(code)", "detail": "\(refusal?.detail ?? "")", "app": "\(app.bundleID)",
          "message": "\(message.digest.hex.prefix(12))",
        ])
      return true
    }
  }

  private func write(_ entry: Entry) async -> Bool {
    do {
      _ = try await append(entry)
      return true
    } catch {
      // Whoever has a receipt can have many answers come at once.
      if let others = failedPace.turn(of: "answer") {
        logger.error(
          "an answer of Apple's was not stored; it is asked for again",
          metadata: ["error": "\(error)", "answersSinceLastLine": "\(others + 1)"])
      }
      return false
    }
  }
}

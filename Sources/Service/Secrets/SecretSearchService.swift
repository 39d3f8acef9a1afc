import Database
import Ledger
import Runtime
import Signing
import Time

/// Searches what was kept before for secrets in clear, beside the service: once after an upgrade, and when a shared secret
/// was registered.
struct SecretSearchService: Service {
  let search: SecretSearch
  let metrics: ServiceMetrics
  let logger: Logger

  private static let period = Duration.seconds(30)
  /// After a page: half of a connection's time is left to the messages that arrive.
  private static let pause = Duration.milliseconds(50)

  func run() async throws {
    var failure: String?
    // Once for each: another process may keep on missing them.
    var tried: Set<Digest> = []
    while !Task.isCancelled {
      try? await Task.sleep(for: Self.period)
      do {
        guard !Task.isCancelled else { return }
        let missed = try await search.missed().subtracting(tried)
        if !missed.isEmpty { try await search.restart() }
        tried.formUnion(missed)
        if try await search.isDue() { try await run(search) }
        failure = nil
      } catch {
        // Once for each reason.
        guard !Task.isCancelled, failure != "\(error)" else { continue }
        failure = "\(error)"
        logger.warning("search for stored secrets failed; it is tried again", metadata: ["error": "\(error)"])
      }
    }
  }

  private func run(_ search: SecretSearch) async throws {
    let start = ContinuousClock.now
    var before = 0
    let summary = try await search.run { _, sum in
      metrics.redacted[].increment(by: UInt64(sum.changed - before))
      before = sum.changed
      try? await Task.sleep(for: Self.pause)
    }
    guard !Task.isCancelled else { return }
    let figures: Logger.Metadata = [
      "searched": "\(summary.searched)", "changed": "\(summary.changed)", "unreadable": "\(summary.skipped)",
      "took": "\(ContinuousClock.now - start)",
    ]
    if summary.skipped > 0 {
      logger.warning(
        "stored messages could not be searched for secrets, or not be written without them: see `switchyard doctor`",
        metadata: figures)
    }
    if summary.changed > 0 {
      logger.warning("secrets were taken out of stored messages: run `switchyard db rebuild`", metadata: figures)
    } else {
      logger.info("no secrets in stored messages", metadata: figures)
    }
  }
}

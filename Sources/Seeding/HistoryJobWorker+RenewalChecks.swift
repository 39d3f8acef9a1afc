import AppStore
import Database
import Ledger
import Runtime
import Synchronization
import Time

/// Subscriptions whose period has ended without a signed word about it: they are asked about as news is.
extension HistoryJobWorker {
  /// How many are made work of at once; what is left is done a few seconds later.
  private static let checksAtOnce = 500

  /// Makes work of the checks that are due in one place.
  func beginRenewalChecks(in place: APIScope) async {
    let now = clock.now()
    do {
      let (due, asked) = try await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try RenewalCheckTable.begin(in: place.scope, limit: Self.checksAtOnce, at: now, session)
      }
      guard due > 0, let app = state.withLock({ $0.access[place.app]?.app.bundleID }) else { return }
      metrics.renewalChecks[app, place.environment.rawValue, "asked"].increment(by: UInt64(asked))
      metrics.renewalChecks[app, place.environment.rawValue, "told"].increment(by: UInt64(due - asked))
    } catch {
      if !Task.isCancelled {
        logger.warning("renewal checks could not be begun; it is tried again", metadata: ["error": "\(error)"])
      }
    }
  }
}

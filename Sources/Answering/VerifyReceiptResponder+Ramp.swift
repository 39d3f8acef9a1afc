import Database
import Ledger
import Purchases
import Receipts
import Rollout
import Time

/// The stage `ramp`: Switchyard's responses for a part of the customers, Apple's for the rest.
extension VerifyReceiptResponder {
  /// Whether the customer of a request gets Switchyard's response; unknown customers get Apple's.
  ///
  /// Only a proven receipt of this environment with a purchase identifies a customer.
  func isOurs(_ posted: ParsedCall, _ app: App, _ flag: StageRecord, in environment: Environment) async -> Bool {
    guard let receipt = posted.proven, let share = flag.share, receipt.environment ?? environment == environment else {
      return false
    }
    let (ids, scope, now) = (
      receipt.originalTransactionIDs, AppScope(app: app.id, environment: environment), clock.now()
    )
    guard !ids.isEmpty else { return false }
    return await withTimeout(within: settings.rampWithin, otherwise: false) { [pool] in
      let isIn = try? await pool.transaction(replayable: true) { session throws(DatabaseError) in
        try BucketTable.decide(ids, app: app, in: scope, salt: flag.salt, at: now, session: session)
          .map(share.contains) == true
      }
      return isIn ?? false
    }
  }
}

extension ComposedResponse {
  /// Whether it reports a local failure, in which case Apple is asked if possible.
  package var isOwnFailure: Bool {
    source == nil && (status == 21_005 || status == 21_009 || (21_100...21_199).contains(status))
  }
}

import Ledger
import Synchronization
import Time

/// Customers that recently had too many rows for a comparison.
///
/// Reading such a customer again would cost the database thousands of rows, with the same result.
final class OversizedCustomerCache: Sendable {
  private struct Customer: Hashable {
    let scope: AppScope
    let id: String
  }

  /// The time that a customer is remembered; only an erasure makes one smaller.
  private static let kept = Interval.hours(1)
  /// The size at which the cache is cleared; each customer returns after one more read.
  private static let most = 1_024

  private let until = Mutex<[Customer: Timestamp]>([:])

  /// - Parameter ids: originalTransactionIds of a proven receipt.
  func contains(_ ids: [String], in scope: AppScope, at now: Timestamp) -> Bool {
    guard let id = ids.min() else { return false }
    return until.withLock { $0[Customer(scope: scope, id: id)].map { $0 > now } ?? false }
  }

  func insert(_ ids: [String], in scope: AppScope, at now: Timestamp) {
    guard let id = ids.min() else { return }
    until.withLock { until in
      if until.count >= Self.most { until = [:] }
      until[Customer(scope: scope, id: id)] = now + Self.kept
    }
  }
}

import Ledger
import Synchronization
import Time

/// Customers who had too many rows to be compared a moment ago.
///
/// Reading such a customer again would cost the database thousands of rows, and come to the same.
final class OversizedCustomerCache: Sendable {
  private struct Customer: Hashable {
    let scope: AppScope
    let id: String
  }

  /// How long a customer is remembered: only an erasure makes one smaller.
  private static let kept = Interval.hours(1)
  /// At so many all are forgotten; each is found again by one more reading.
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

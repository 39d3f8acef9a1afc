import Ledger
import Runtime
import Synchronization

/// The queue of one class of callers, which parses requests and composes slow responses, so that named callers wait for
/// no stranger's.
final class CallQueue: Sendable {
  let thread: WorkerThread
  /// Only this class's receipts: strangers remove no named caller's receipt.
  let receipts = VerifiedReceiptCache()
  /// Processes customers with unusually many rows one at a time, so that neither memory nor the threads for
  /// notifications depend on a customer's number of purchases.
  private let large = AsyncSemaphore(waiters: largeWaiting)
  private let shares: Mutex<[AppScope: LargeShare]> = Mutex([:])
  private let mostOfApp: Int
  private let mostOfCustomer: Int
  private let gaveBack = Mutex<ContinuousClock.Instant?>(nil)

  private static let largeWaiting = 16

  private struct LargeShare {
    var count = 0
    var ofCustomer: [String: Int] = [:]
  }

  /// - Parameters:
  ///   - longestLine: bytes of requests that wait to be parsed, and of responses that wait to be written.
  ///   - mostOfApp: large responses in process or waiting, of an app in an environment, so that one app cannot fill the
  ///     queue.
  ///   - mostOfCustomer: of them, of receipts with the same first ID.
  init(label: String, longestLine: Int, mostOfApp: Int, mostOfCustomer: Int) {
    thread = WorkerThread(label: label, longestLine: longestLine)
    (self.mostOfApp, self.mostOfCustomer) = (mostOfApp, mostOfCustomer)
  }

  /// Composes the response of a large customer in its turn; throws a `AsyncSemaphore.Refusal` if too many wait.
  ///
  /// - Parameter customer: an ID of the receipt, always the same one for the same receipt.
  func large<Value>(_ customer: String, in scope: AppScope, _ body: () async throws -> Value) async throws -> Value {
    guard enter(customer, scope) else { throw AsyncSemaphore.Refusal.overloaded }
    defer { leave(customer, scope) }
    return try await large.withSlot {
      // Release the memory of one response, because the next may run on another thread.
      defer { giveBack() }
      return try await body()
    }
  }

  var waiting: Int { large.waitingCount }

  private func enter(_ customer: String, _ scope: AppScope) -> Bool {
    shares.withLock { shares in
      let share = shares[scope] ?? LargeShare()
      let ofCustomer = share.ofCustomer[customer] ?? 0
      guard share.count < mostOfApp, ofCustomer < mostOfCustomer else { return false }
      shares[scope, default: LargeShare()].count += 1
      shares[scope]?.ofCustomer[customer] = ofCustomer + 1
      return true
    }
  }

  private func leave(_ customer: String, _ scope: AppScope) {
    shares.withLock { shares in
      guard var share = shares[scope] else { return }
      share.count -= 1
      let left = (share.ofCustomer[customer] ?? 1) - 1
      share.ofCustomer[customer] = left > 0 ? left : nil
      shares[scope] = share.count > 0 ? share : nil
    }
  }

  /// Releases memory at most once a second, because it blocks every thread that allocates.
  private func giveBack() {
    let isDue = gaveBack.withLock { last in
      if let last, .now - last < .seconds(1) { return false }
      last = .now
      return true
    }
    if isDue { ProcessMemory.giveBack() }
  }
}

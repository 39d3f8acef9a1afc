import Ledger
import Runtime
import Synchronization

/// Where the requests of a class of callers are read, and what takes long of their answers is made: those who are named wait
/// for no stranger's.
final class CallQueue: Sendable {
  let thread: WorkerThread
  /// Of this class alone: strangers push out nothing that named callers sent.
  let receipts = VerifiedReceiptCache()
  /// For customers of more rows than most have: one at a time, so that neither memory nor the threads that take in
  /// notifications depend on how much somebody has bought.
  private let large = AsyncSemaphore(waiters: largeWaiting)
  private let shares: Mutex<[AppScope: LargeShare]> = Mutex([:])
  private let mostOfApp: Int
  private let mostOfCustomer: Int
  private let gaveBack = Mutex<ContinuousClock.Instant?>(nil)

  private static let largeWaiting = 16

  /// The large answers of an app that are made or wait.
  private struct LargeShare {
    var count = 0
    var ofCustomer: [String: Int] = [:]
  }

  /// - Parameters:
  ///   - longestLine: bytes of requests that wait to be read, and of answers that wait to be written.
  ///   - mostOfApp: large answers that are made or wait, of an app in an environment: none fills the line alone.
  ///   - mostOfCustomer: of them, of receipts with the same first id.
  init(label: String, longestLine: Int, mostOfApp: Int, mostOfCustomer: Int) {
    thread = WorkerThread(label: label, longestLine: longestLine)
    (self.mostOfApp, self.mostOfCustomer) = (mostOfApp, mostOfCustomer)
  }

  /// Makes the answer of a large customer when it is its turn; throws a `AsyncSemaphore.Refusal` where too many wait.
  ///
  /// - Parameter customer: an id of the receipt, always the same one for the same receipt.
  func large<Value>(_ customer: String, in scope: AppScope, _ body: () async throws -> Value) async throws -> Value {
    guard enter(customer, scope) else { throw AsyncSemaphore.Refusal.overloaded }
    defer { leave(customer, scope) }
    return try await large.withSlot {
      // What one answer held is not kept for the next, which may run on another thread.
      defer { giveBack() }
      return try await body()
    }
  }

  /// Large answers that wait for their turn.
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

  /// It holds up every thread that allocates: once a second at most.
  private func giveBack() {
    let isDue = gaveBack.withLock { last in
      if let last, .now - last < .seconds(1) { return false }
      last = .now
      return true
    }
    if isDue { ProcessMemory.giveBack() }
  }
}

import Ledger
import Runtime
import Synchronization
import Time

/// Limits how often a customer is looked up at Apple: once in an interval, and a limited number for each app's unknown
/// callers.
///
/// Every user has a receipt that Apple signed, and can send it. The limit for strangers keeps capacity at Apple
/// for the operator's own callers.
final class LookupRateLimiter: Sendable {
  struct Customer: Hashable, Sendable {
    let scope: AppScope
    /// One of the account's IDs, stable until new data arrives.
    let name: String
    /// Whether the caller is named: it waits for no stranger's lookup, and has its own limit.
    let isNamed: Bool
  }

  struct Settings: Sendable {
    var every = Interval.minutes(1)
    /// The burst of lookups for strangers of one app, and the time until the next one.
    var strangersAtOnce = 120
    var strangersEvery = Interval.milliseconds(250)
    /// The number of remembered customers.
    var most = 50_000
  }

  private struct Share {
    var left: Int
    var filledAt: Timestamp

    mutating func fill(_ settings: Settings, at now: Timestamp) {
      let steps = max(0, (now - filledAt).milliseconds) / max(1, settings.strangersEvery.milliseconds)
      guard steps > 0 else { return }
      left = min(settings.strangersAtOnce, left + Int(min(steps, Int64(settings.strangersAtOnce))))
      filledAt = filledAt + .milliseconds(steps * settings.strangersEvery.milliseconds)
    }
  }

  private struct State {
    var turns: [Customer: Timestamp] = [:]
    var shares: [AppScope: Share] = [:]
  }

  private let state = Mutex(State())
  private let looks = SingleFlight<Customer, Bool>()
  private let settings: Settings

  init(_ settings: Settings = Settings()) { self.settings = settings }

  /// Whether a lookup is in flight, or may begin now.
  func isOpen(_ customer: Customer, at now: Timestamp) -> Bool {
    looks.isUnderWay(customer) || state.withLock { isFree(customer, now, &$0) }
  }

  /// Looks the customer up, or waits for a lookup in flight; false if the limit forbids it, or if Apple cannot be
  /// asked.
  func looked(
    up customer: Customer, at now: Timestamp, _ look: @escaping @Sendable () async -> Bool
  ) async -> Bool {
    let found = await looks.value(
      of: customer,
      where: {
        state.withLock { state in
          guard isFree(customer, now, &state) else { return false }
          state.turns[customer] = now
          if !customer.isNamed { state.shares[customer.scope]?.left -= 1 }
          return true
        }
      }, look)
    return found ?? false
  }

  private func isFree(_ customer: Customer, _ now: Timestamp, _ state: inout State) -> Bool {
    if let last = state.turns[customer], last + settings.every > now { return false }
    if state.turns.count >= settings.most {
      state.turns = state.turns.filter { $0.value + settings.every > now }
      guard state.turns.count < settings.most else { return false }
    }
    if customer.isNamed { return true }
    state.shares[customer.scope, default: Share(left: settings.strangersAtOnce, filledAt: now)].fill(settings, at: now)
    return state.shares[customer.scope]?.left ?? 0 > 0
  }
}

import Ledger
import Runtime
import Synchronization
import Time

/// Who was looked up when: no customer more often than once in a while, however often their receipt comes, and of each app only
/// so many for callers that nobody knows.
///
/// Every user has a receipt that Apple signed, and can send it: what strangers may have looked up is bounded, so that the
/// operator's own callers always find a share of Apple's limit.
final class LookupRateLimiter: Sendable {
  struct Customer: Hashable, Sendable {
    let scope: AppScope
    /// One of the account's ids, always the same one while nothing more is known.
    let name: String
    /// Of whom the request is: who is named waits for no stranger's look-up, and has a turn of their own.
    let isNamed: Bool
  }

  struct Settings: Sendable {
    /// A customer is looked up no more often.
    var every = Interval.minutes(1)
    /// Look-ups for strangers of one app at once, and how soon there is another.
    var strangersAtOnce = 120
    var strangersEvery = Interval.milliseconds(250)
    /// Customers that are remembered.
    var most = 50_000
  }

  /// What is left of the strangers' share of an app.
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

  /// Whether a look-up is under way that can be waited for, or may be begun now.
  func isOpen(_ customer: Customer, at now: Timestamp) -> Bool {
    looks.isUnderWay(customer) || state.withLock { isFree(customer, now, &$0) }
  }

  /// Looks the customer up, or waits for whoever does; false if that may not be now, or if Apple could not be asked.
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

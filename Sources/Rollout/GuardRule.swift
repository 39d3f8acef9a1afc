/// When an app's answers of ours are taken back by themselves.
package struct GuardRule: Hashable, Sendable {
  /// The rate of customers with an impact above which it goes back to `shadow`, in a million.
  package var mostImpact = 10_000
  /// Seconds: the span of time that is looked at.
  package var window = 3_600
  /// Customers who must have been compared in it; with fewer nothing is decided.
  package var leastCustomers = 100

  package init() {}

  package enum Verdict: Hashable, Sendable {
    /// Too few customers were compared: the stage stays, and goes no further.
    case held
    case sound
    case breached
  }

  /// - Parameters:
  ///   - customers: compared since the stage was set, within the window.
  ///   - affected: those of them with an impact that counts.
  package func verdict(customers: Int, affected: Int) -> Verdict {
    guard customers >= max(1, leastCustomers) else { return .held }
    return affected * 1_000_000 > mostImpact * customers ? .breached : .sound
  }
}

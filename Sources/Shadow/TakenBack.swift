package import Rollout
package import Time

/// An app that the guard took back to `shadow`: what is announced of it.
package struct TakenBack: Hashable, Sendable {
  package let app: String
  package let environment: String
  /// Why.
  package let breach: GuardBreach
  /// The stage before, with its share.
  package let from: String
  package let at: Milliseconds

  /// What happened, for people: `ramp 25 % to shadow: 12 of 400 calls got no answer …`.
  package var text: String { "\(from) to shadow: \(breach.text)" }
}

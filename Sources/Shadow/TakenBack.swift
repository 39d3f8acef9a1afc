package import Rollout
package import Time

/// An app that the guard took back to `shadow`: what is announced of it.
package struct TakenBack: Hashable, Sendable {
  package let app: String
  package let environment: String
  /// Of the stage before: each is taken back once at most.
  package let epoch: Int64
  /// Why.
  package let breach: GuardBreach
  /// The stage before, with its share.
  package let from: String
  package let at: Milliseconds

  package init(
    app: String, environment: String, epoch: Int64, breach: GuardBreach, from: String, at: Milliseconds
  ) {
    self.app = app
    self.environment = environment
    self.epoch = epoch
    self.breach = breach
    self.from = from
    self.at = at
  }

  /// What an operator does then.
  package static let runbook = "runbooks/guard-breach.md"

  /// By which a receiver knows what it was told before.
  package var id: String { "\(app)/\(environment)/\(epoch)" }

  /// What happened, for people: `ramp 25 % to shadow: 12 of 400 calls got no answer …`.
  package var text: String { "\(from) to shadow: \(breach.text)" }
}

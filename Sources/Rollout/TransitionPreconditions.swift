/// What a change of stage depends on, as it is found for one app in one environment.
package struct TransitionPreconditions: Hashable, Sendable {
  /// Whether the app has an enabled destination to pass notifications through to.
  package var hasLegacyURL = false
  /// Whether messages have waited for that destination for longer than it takes to send them.
  package var isBackedUp = false
  /// Whether the app has a shared secret in use, without which 21004 cannot be told from 0.
  package var hasSharedSecret = false
  /// Whether the app has a key of the App Store Server API, without which nothing can be looked up.
  package var hasAPIKey = false
  /// Whether everything was found that the stage needs to be proven by.
  package var hasEvidence = false
  /// Whether the operator accepts the move without evidence.
  package var isForced = false

  package init() {}
}

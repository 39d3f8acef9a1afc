package import Purchases

/// The metadata that the sender of a message stated in addition to its body.
///
/// It is needed to read the message again.
package struct SubmissionMetadata: Hashable, Sendable {
  package var environment: Environment?
  /// The app's own name for the account.
  package var userID: String?
  /// Whether the user ID comes from a stored table.
  ///
  /// Its date is unknown, so later statements have precedence.
  package var isStored = false

  package init(environment: Environment? = nil, userID: String? = nil, isStored: Bool = false) {
    self.environment = environment
    self.userID = userID
    self.isStored = isStored
  }
}

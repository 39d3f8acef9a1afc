package import Purchases

/// What whoever brought a message said of it, beside its body: needed to read it again as it was read.
package struct SubmissionMetadata: Hashable, Sendable {
  /// Nil when nobody said.
  package var environment: Environment?
  /// The app's own name for the account.
  package var userID: String?
  /// Whether the user is of a stored table: nobody knows since when, so that it counts before whatever is said since.
  package var isStored = false

  package init(environment: Environment? = nil, userID: String? = nil, isStored: Bool = false) {
    self.environment = environment
    self.userID = userID
    self.isStored = isStored
  }
}

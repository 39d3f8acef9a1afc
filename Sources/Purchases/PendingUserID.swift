public import Time

/// A user ID that arrived with only a transaction's ID, and belongs to its purchase once that is known.
///
/// The ID may be any transaction ID of the purchase. The user ID is attributed in the purchase's environment.
public struct PendingUserID: Hashable, Sendable {
  public let userID: String
  public let transactionID: String
  /// The environment that the caller named.
  ///
  /// `nil`: any.
  public let environment: Environment?
  public let asOf: Timestamp
  public let message: [UInt8]

  public init(
    userID: String, transactionID: String, environment: Environment?, asOf: Timestamp, message: [UInt8]
  ) {
    self.userID = userID
    self.transactionID = transactionID
    self.environment = environment
    self.asOf = asOf
    self.message = message
  }
}

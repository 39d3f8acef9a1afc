public import Time

/// A user id that arrived with an id alone: it belongs to the purchase that this id names, once that purchase is known.
///
/// The id may be any transaction id of the purchase. Its originalTransactionId and its environment are known when the
/// purchase is, and the user id is attributed then, in that environment.
public struct PendingUserID: Hashable, Sendable {
  public let userID: String
  public let transactionID: String
  /// The environment that the caller named; nil for whichever has the purchase.
  public let environment: Environment?
  /// When it was said.
  public let asOf: Timestamp
  /// The SHA-256 of the message that said it.
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

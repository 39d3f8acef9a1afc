/// An ID for history requests to Apple, with the data from its arrival.
public struct TransactionReference: Hashable, Sendable {
  public let app: String
  /// `nil` if unknown: the lookup then tries Production first.
  public let environment: Environment?
  /// An originalTransactionId, or another transaction ID if no better one arrived.
  public let transactionID: String
  /// The app's own name for the account, from its back end: an attribute, never a link between customers.
  public let userID: String?
  /// Whether Apple signed the ID in a transaction without an app, so that the message contains no purchase of it.
  public let isSigned: Bool

  public init(
    app: String, environment: Environment?, transactionID: String, userID: String? = nil, isSigned: Bool = false
  ) {
    self.app = app
    self.environment = environment
    self.transactionID = transactionID
    self.userID = userID
    self.isSigned = isSigned
  }
}

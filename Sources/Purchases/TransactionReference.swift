/// An id by which Apple's history of a customer can be asked, with what was known of it where it arrived.
public struct TransactionReference: Hashable, Sendable {
  public let app: String
  /// Nil when nobody said: Apple is then asked in Production first.
  public let environment: Environment?
  /// An originalTransactionId, or another transaction id where nothing better arrived.
  public let transactionID: String
  /// The app's own name for the account, as its back end gave it: an attribute, never a link between customers.
  public let userID: String?
  /// Whether Apple signed the id in a transaction that names no app, so that the message states no purchase of it.
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

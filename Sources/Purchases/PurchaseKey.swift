public import Time

/// The identity of a charge or grant, equal in every message.
///
/// A transaction ID is only an alias: with Notifications V1 and receipts every restore creates a new one for the same
/// charge.
public struct PurchaseKey: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  public var originalTransactionID: String
  public var line: Line

  public init(app: String, environment: Environment, originalTransactionID: String, line: Line) {
    self.app = app
    self.environment = environment
    self.originalTransactionID = originalTransactionID
    self.line = line
  }

  /// The subscription, if the purchase is a period.
  public var subscription: SubscriptionKey {
    SubscriptionKey(app: app, environment: environment, originalTransactionID: originalTransactionID)
  }
}

extension PurchaseKey: Comparable {
  public static func < (a: Self, b: Self) -> Bool {
    (a.app, a.environment, a.originalTransactionID, a.line) < (b.app, b.environment, b.originalTransactionID, b.line)
  }
}

/// The identity of a charge within one originalTransactionId.
public struct Line: Hashable, Sendable, Comparable {
  /// The webOrderLineItemId, or `p` and the purchase date in ms, or empty.
  public let text: String

  /// Creates a line from a table's text.
  public init(text: String) { self.text = text }

  /// Creates a line from Apple's line item ("0" is missing), otherwise from a subscription's purchase date, otherwise
  /// an empty one.
  public init(webOrderLineItemID: String?, purchaseDate: Timestamp?, isSubscription: Bool) {
    switch (webOrderLineItemID, purchaseDate) {
    case (let id?, _) where id != "" && id != "0": text = id
    case (_, let date?) where isSubscription: text = "p\(date.sinceEpoch)"
    default: text = ""
    }
  }

  /// Whether Apple named the line.
  ///
  /// A derived line may later be replaced by a named one.
  public var isNamed: Bool { text != "" && !text.hasPrefix("p") }

  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

/// The identity of a subscription: Apple has one renewal for each originalTransactionId.
public struct SubscriptionKey: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  public var originalTransactionID: String

  public init(app: String, environment: Environment, originalTransactionID: String) {
    self.app = app
    self.environment = environment
    self.originalTransactionID = originalTransactionID
  }
}

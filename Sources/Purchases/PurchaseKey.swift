public import Time

/// Which charge or grant this is; the same for every message that speaks of it.
///
/// A transaction id is no such thing: with Notifications V1 and receipts every restore makes a new one for the same
/// charge. It serves as an alias instead.
public struct PurchaseKey: Hashable, Sendable {
  /// The app's bundle id.
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

  /// The subscription of which it would be a period.
  public var subscription: SubscriptionKey {
    SubscriptionKey(app: app, environment: environment, originalTransactionID: originalTransactionID)
  }
}

extension PurchaseKey: Comparable {
  public static func < (a: Self, b: Self) -> Bool {
    (a.app, a.environment, a.originalTransactionID, a.line) < (b.app, b.environment, b.originalTransactionID, b.line)
  }
}

/// Which of the charges below one originalTransactionId.
public struct Line: Hashable, Sendable, Comparable {
  /// The webOrderLineItemId; or `p` and the purchase date in ms; or empty.
  public let text: String

  /// As it stands in a table.
  public init(text: String) { self.text = text }

  /// Apple's line item when there is one ("0" is none), else the period's purchase date for a subscription, else nothing.
  public init(webOrderLineItemID: String?, purchaseDate: Timestamp?, isSubscription: Bool) {
    switch (webOrderLineItemID, purchaseDate) {
    case (let id?, _) where id != "" && id != "0": text = id
    case (_, let date?) where isSubscription: text = "p\(date.sinceEpoch)"
    default: text = ""
    }
  }

  /// Whether Apple named the line; one derived here may later turn out to be a named one.
  public var isNamed: Bool { text != "" && !text.hasPrefix("p") }

  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

/// Which subscription a renewal is about: Apple gives one renewal to each originalTransactionId.
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

public import JSON
public import Time

public struct Event: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  /// Apple's notificationUUID.
  ///
  /// `nil` for versions without it.
  public var notificationUUID: String?
  public var notificationType: String
  public var subtype: String?
  /// `nil` for events without a purchase: TEST, summaries, external purchase tokens.
  public var originalTransactionID: String?
  public var transactionID: String?
  public var line: Line?
  /// The date by the event's row of `Mappings`: a purchase date, a revocation date, otherwise the signing date.
  public var date: Timestamp
  public var source: Source
  public var rank: Rank
  /// The envelope's data about more than the purchase: a summary's counts, a token, the reason of a refund request.
  public var details: JSONObject
  public var message: [UInt8]
  /// The row of `Mappings` that classified the event.
  ///
  /// `nil` for a type without a row.
  public var rule: String?

  public init(
    app: String, environment: Environment, notificationUUID: String?, notificationType: String, subtype: String?,
    originalTransactionID: String?, transactionID: String?, line: Line?, date: Timestamp, source: Source,
    rank: Rank, details: JSONObject, message: [UInt8], rule: String?
  ) {
    self.app = app
    self.environment = environment
    self.notificationUUID = notificationUUID
    self.notificationType = notificationType
    self.subtype = subtype
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.line = line
    self.date = date
    self.source = source
    self.rank = rank
    self.details = details
    self.message = message
    self.rule = rule
  }

  /// The identity of an event across versions: the same event of the same line in the same second.
  ///
  /// An event without a purchase has only its UUID. V1 bodies have no milliseconds.
  public var meaning: Meaning {
    Meaning(
      app: app, environment: environment, notificationType: notificationType, subtype: subtype ?? "",
      originalTransactionID: originalTransactionID ?? "", line: line?.text ?? "", second: date.wholeSeconds,
      uuid: originalTransactionID == nil ? notificationUUID : nil)
  }

  public struct Meaning: Hashable, Sendable {
    let app: String, environment: Environment, notificationType: String, subtype: String
    let originalTransactionID: String, line: String, second: Int64, uuid: String?
  }
}

public import JSON
public import Time

/// Something that happened, in the vocabulary of Notifications V2, whichever generation told of it.
public struct Event: Hashable, Sendable {
  public var app: String
  public var environment: Environment
  /// Apple's notificationUUID; nil for generations that have none.
  public var notificationUUID: String?
  public var notificationType: String
  public var subtype: String?
  /// Nil for events about no purchase: TEST, summaries, external purchase tokens.
  public var originalTransactionID: String?
  public var transactionID: String?
  public var line: Line?
  /// When it happened, by the event's own row of `Mappings`: a purchase date, a revocation date, else when it was signed.
  public var date: Timestamp
  public var source: Source
  public var rank: Rank
  /// What the envelope says beside the purchase: a summary's counts, a token, the reason of a refund request.
  public var details: JSONObject
  public var message: [UInt8]
  /// The row of `Mappings` that classified it; nil for a type that no row knows.
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

  /// What makes two events one, across generations: the same thing, of the same line, in the same second.
  ///
  /// An event about no purchase is known by its UUID alone. Seconds, because V1 bodies tell no more.
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

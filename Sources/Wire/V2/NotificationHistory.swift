public import JSON
public import Time

/// What Get Notification History asks: at most 180 days back, and at most one filter beside the dates.
///
/// Apple: appstoreserverapi/notificationhistoryrequest.
public struct NotificationHistoryRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    startDate: Timestamp, endDate: Timestamp, notificationType: String? = nil, notificationSubtype: String? = nil,
    transactionId: String? = nil, onlyFailures: Bool? = nil
  ) {
    json = JSONObject(
      given: ("startDate", .integer(startDate.sinceEpoch)), ("endDate", .integer(endDate.sinceEpoch)),
      ("notificationType", JSONValue(notificationType)), ("notificationSubtype", JSONValue(notificationSubtype)),
      ("transactionId", JSONValue(transactionId)), ("onlyFailures", JSONValue(onlyFailures)))
  }

  public var startDate: Timestamp? { date("startDate") }
  public var endDate: Timestamp? { date("endDate") }
  public var notificationType: String? { text("notificationType") }
  public var notificationSubtype: String? { text("notificationSubtype") }
  public var transactionId: String? { text("transactionId") }
  /// Only those that did not reach our server.
  public var onlyFailures: Bool? { flag("onlyFailures") }

  public static let schema = Schema([
    "startDate": .date,
    "endDate": .date,
    "notificationType": .word(DocumentedValues.notificationTypeV2),
    "notificationSubtype": .word(DocumentedValues.subtype),
    "transactionId": .text,
    "onlyFailures": .flag,
  ])
}

/// The answer of Get Notification History, a page of it.
///
/// Apple: appstoreserverapi/notificationhistoryresponse.
public struct NotificationHistoryResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var paginationToken: String? { text("paginationToken") }
  public var hasMore: Bool? { flag("hasMore") }
  public var notificationHistory: [NotificationHistoryResponseItem]? { structures("notificationHistory") }

  public static let schema = Schema([
    "paginationToken": .text,
    "hasMore": .flag,
    "notificationHistory": .structures(NotificationHistoryResponseItem.schema),
  ])
}

/// One notification, and how its sending went.
///
/// Apple: appstoreserverapi/notificationhistoryresponseitem.
public struct NotificationHistoryResponseItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedPayload: String? { text("signedPayload") }
  public var sendAttempts: [SendAttemptItem]? { structures("sendAttempts") }

  public static let schema = Schema([
    "signedPayload": .text,
    "sendAttempts": .structures(SendAttemptItem.schema),
  ])
}

/// One attempt to send a notification.
///
/// Apple: appstoreserverapi/sendattemptitem.
public struct SendAttemptItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var attemptDate: Timestamp? { date("attemptDate") }
  public var sendAttemptResult: String? { text("sendAttemptResult") }

  public static let schema = Schema([
    "attemptDate": .date,
    "sendAttemptResult": .word(DocumentedValues.sendAttemptResult),
  ])
}

/// The answer of Request a Test Notification.
///
/// Apple: appstoreserverapi/sendtestnotificationresponse.
public struct SendTestNotificationResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var testNotificationToken: String? { text("testNotificationToken") }

  public static let schema = Schema([
    "testNotificationToken": .text
  ])
}

/// The answer of Get Test Notification Status.
///
/// Apple: appstoreserverapi/checktestnotificationresponse.
public struct CheckTestNotificationResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedPayload: String? { text("signedPayload") }
  public var sendAttempts: [SendAttemptItem]? { structures("sendAttempts") }

  public static let schema = Schema([
    "signedPayload": .text,
    "sendAttempts": .structures(SendAttemptItem.schema),
  ])
}

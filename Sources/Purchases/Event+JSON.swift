public import JSON
import Time

extension Event {
  /// The event by Apple's V2 names.
  public var json: JSONObject {
    var object: JSONObject = [
      "notificationType": .string(notificationType), "date": .integer(date.sinceEpoch),
    ]
    object["subtype"] = subtype.map(JSONValue.string)
    object["notificationUUID"] = notificationUUID.map(JSONValue.string)
    object["originalTransactionId"] = originalTransactionID.map(JSONValue.string)
    object["transactionId"] = transactionID.map(JSONValue.string)
    if !details.isEmpty { object["details"] = .object(details) }
    return object
  }
}

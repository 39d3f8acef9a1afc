public import JSON
import Time

extension Event {
  /// What happened and to what, by Apple's V2 names: the same wherever an event is shown.
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

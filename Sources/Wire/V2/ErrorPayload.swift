public import JSON

/// The body of an answer that is a refusal; a 401 has none.
///
/// Apple: appstoreserverapi/errorcodes.
public struct ErrorPayload: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var errorCode: Int64? { integer("errorCode") }
  public var errorMessage: String? { text("errorMessage") }

  public static let schema = Schema([
    "errorCode": .integer,
    "errorMessage": .text,
  ])
}

public import JSON
public import Time

/// The body of a request for a retention message: the one thing in it is signed.
///
/// Apple: retentionmessaging/realtimerequestbody.
public struct RealtimeRequestBody: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedPayload: String? { text("signedPayload") }

  public static let schema = Schema([
    "signedPayload": .text
  ])
}

/// A request for a retention message, as its signedPayload decodes.
///
/// Apple: retentionmessaging/decodedrealtimerequestbody.
public struct DecodedRealtimeRequestBody: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var originalTransactionId: String? { text("originalTransactionId") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var productId: String? { text("productId") }
  public var userLocale: String? { text("userLocale") }
  public var requestIdentifier: String? { text("requestIdentifier") }
  public var signedDate: Milliseconds? { date("signedDate") }
  public var environment: String? { text("environment") }

  public static let schema = Schema([
    "originalTransactionId": .text,
    "appAppleId": .integer,
    "productId": .text,
    "userLocale": .text,
    "requestIdentifier": .text,
    "signedDate": .date,
    "environment": .word(Words.appStoreEnvironment),
  ])
}

public import JSON
public import Time

/// What Extend a Subscription Renewal Date asks.
///
/// Apple: appstoreserverapi/extendrenewaldaterequest.
public struct ExtendRenewalDateRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    extendByDays: Int64, extendReasonCode: Int64, requestIdentifier: String
  ) {
    json = JSONObject(
      given: ("extendByDays", .integer(extendByDays)), ("extendReasonCode", .integer(extendReasonCode)),
      ("requestIdentifier", .string(requestIdentifier)))
  }

  /// 1 to 90.
  public var extendByDays: Int64? { integer("extendByDays") }
  public var extendReasonCode: Int64? { integer("extendReasonCode") }
  /// Chosen by the caller, to tell requests apart; at most 128 characters.
  public var requestIdentifier: String? { text("requestIdentifier") }

  public static let schema = Schema([
    "extendByDays": .integer,
    "extendReasonCode": .code(0...3),
    "requestIdentifier": .text,
  ])
}

/// The answer of Extend a Subscription Renewal Date.
///
/// Apple: appstoreserverapi/extendrenewaldateresponse.
public struct ExtendRenewalDateResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var originalTransactionId: String? { text("originalTransactionId") }
  public var webOrderLineItemId: String? { text("webOrderLineItemId") }
  public var success: Bool? { flag("success") }
  /// When the subscription renews now.
  public var effectiveDate: Timestamp? { date("effectiveDate") }

  public static let schema = Schema([
    "originalTransactionId": .text,
    "webOrderLineItemId": .text,
    "success": .flag,
    "effectiveDate": .date,
  ])
}

/// What Extend Subscription Renewal Dates for All Active Subscribers asks.
///
/// Apple: appstoreserverapi/massextendrenewaldaterequest.
public struct MassExtendRenewalDateRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    extendByDays: Int64, extendReasonCode: Int64, requestIdentifier: String, storefrontCountryCodes: [String]? = nil,
    productId: String
  ) {
    json = JSONObject(
      given: ("extendByDays", .integer(extendByDays)), ("extendReasonCode", .integer(extendReasonCode)),
      ("requestIdentifier", .string(requestIdentifier)), ("storefrontCountryCodes", JSONValue(storefrontCountryCodes)),
      ("productId", .string(productId)))
  }

  /// 1 to 90.
  public var extendByDays: Int64? { integer("extendByDays") }
  public var extendReasonCode: Int64? { integer("extendReasonCode") }
  /// Chosen by the caller; the status is asked for by it.
  public var requestIdentifier: String? { text("requestIdentifier") }
  /// ISO 3166-1 alpha-3; absent for every storefront.
  public var storefrontCountryCodes: [String]? { texts("storefrontCountryCodes") }
  public var productId: String? { text("productId") }

  public static let schema = Schema([
    "extendByDays": .integer,
    "extendReasonCode": .code(0...3),
    "requestIdentifier": .text,
    "storefrontCountryCodes": .texts,
    "productId": .text,
  ])
}

/// The answer of Extend Subscription Renewal Dates for All Active Subscribers: it has begun.
///
/// Apple: appstoreserverapi/massextendrenewaldateresponse.
public struct MassExtendRenewalDateResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var requestIdentifier: String? { text("requestIdentifier") }

  public static let schema = Schema([
    "requestIdentifier": .text
  ])
}

/// The answer of Get Status of Subscription Renewal Date Extensions.
///
/// Apple: appstoreserverapi/massextendrenewaldatestatusresponse.
public struct MassExtendRenewalDateStatusResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var requestIdentifier: String? { text("requestIdentifier") }
  public var complete: Bool? { flag("complete") }
  public var completeDate: Timestamp? { date("completeDate") }
  public var succeededCount: Int64? { integer("succeededCount") }
  public var failedCount: Int64? { integer("failedCount") }

  public static let schema = Schema([
    "requestIdentifier": .text,
    "complete": .flag,
    "completeDate": .date,
    "succeededCount": .integer,
    "failedCount": .integer,
  ])
}

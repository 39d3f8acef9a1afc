public import JSON

/// What Send Consumption Information tells Apple of a purchase whose refund is asked for.
///
/// Apple: appstoreserverapi/consumptionrequest.
public struct ConsumptionRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    customerConsented: Bool, consumptionPercentage: Int64? = nil, deliveryStatus: String,
    refundPreference: String? = nil, sampleContentProvided: Bool
  ) {
    json = JSONObject(
      given: ("customerConsented", .bool(customerConsented)),
      ("consumptionPercentage", JSONValue(consumptionPercentage)), ("deliveryStatus", .string(deliveryStatus)),
      ("refundPreference", JSONValue(refundPreference)), ("sampleContentProvided", .bool(sampleContentProvided)))
  }

  /// Nothing may be sent unless it is true.
  public var customerConsented: Bool? { flag("customerConsented") }
  /// In thousandths of a per cent.
  public var consumptionPercentage: Int64? { integer("consumptionPercentage") }
  public var deliveryStatus: String? { text("deliveryStatus") }
  public var refundPreference: String? { text("refundPreference") }
  public var sampleContentProvided: Bool? { flag("sampleContentProvided") }

  public static let schema = Schema([
    "customerConsented": .flag,
    "consumptionPercentage": .integer,
    "deliveryStatus": .word(DocumentedValues.deliveryStatus),
    "refundPreference": .word(DocumentedValues.refundPreference),
    "sampleContentProvided": .flag,
  ])
}

extension ConsumptionRequest {
  /// What Apple would refuse in it; empty when it can be sent.
  public var problems: [String] {
    var problems = json.consumptionProblems(Self.schema)
    if deliveryStatus == nil { problems.append("deliveryStatus is missing") }
    if sampleContentProvided == nil { problems.append("sampleContentProvided is missing") }
    if let percentage = consumptionPercentage, !(0...100_000).contains(percentage) {
      problems.append("consumptionPercentage is \(percentage); it is in thousandths of a per cent, 0 to 100000")
    }
    return problems
  }
}

extension ConsumptionRequestV1 {
  /// What Apple would refuse in it; empty when it can be sent.
  public var problems: [String] {
    var problems = json.consumptionProblems(Self.schema)
    if let token = appAccountToken {
      if !token.isEmpty, !token.isUUID { problems.append("appAccountToken is neither empty nor a UUID") }
    } else {
      problems.append("appAccountToken is missing; it may be empty")
    }
    return problems
  }
}

extension JSONObject {
  fileprivate func consumptionProblems(_ schema: Schema) -> [String] {
    var survey = UndocumentedContent()
    schema.survey(self, path: "", into: &survey)
    var problems = survey.unknownFields.map { "\($0) is not one of its fields" }
    problems += survey.unusableFields.map { "\($0) is of another type" }
    problems += survey.unknownValues.map { "\($0) is not one of Apple's values" }
    if self["customerConsented"] != true { problems.append("customerConsented is not true: nothing may be sent") }
    return problems
  }
}

extension String {
  fileprivate var isUUID: Bool {
    let parts = utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12]
      && parts.joined().allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          true
        default: false
        }
      }
  }
}

/// What the deprecated Send Consumption Information V1 tells; every number is one of Apple's codes.
///
/// Apple: appstoreserverapi/consumptionrequestv1.
public struct ConsumptionRequestV1: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    customerConsented: Bool, consumptionStatus: Int64? = nil, platform: Int64? = nil,
    sampleContentProvided: Bool? = nil, deliveryStatus: Int64? = nil, appAccountToken: String,
    accountTenure: Int64? = nil, playTime: Int64? = nil, lifetimeDollarsRefunded: Int64? = nil,
    lifetimeDollarsPurchased: Int64? = nil, userStatus: Int64? = nil, refundPreference: Int64? = nil
  ) {
    json = JSONObject(
      given: ("customerConsented", .bool(customerConsented)), ("consumptionStatus", JSONValue(consumptionStatus)),
      ("platform", JSONValue(platform)), ("sampleContentProvided", JSONValue(sampleContentProvided)),
      ("deliveryStatus", JSONValue(deliveryStatus)), ("appAccountToken", .string(appAccountToken)),
      ("accountTenure", JSONValue(accountTenure)), ("playTime", JSONValue(playTime)),
      ("lifetimeDollarsRefunded", JSONValue(lifetimeDollarsRefunded)),
      ("lifetimeDollarsPurchased", JSONValue(lifetimeDollarsPurchased)), ("userStatus", JSONValue(userStatus)),
      ("refundPreference", JSONValue(refundPreference)))
  }

  public var customerConsented: Bool? { flag("customerConsented") }
  public var consumptionStatus: Int64? { integer("consumptionStatus") }
  public var platform: Int64? { integer("platform") }
  public var sampleContentProvided: Bool? { flag("sampleContentProvided") }
  public var deliveryStatus: Int64? { integer("deliveryStatus") }
  /// Empty where there is none: Apple asks for the field.
  public var appAccountToken: String? { text("appAccountToken") }
  public var accountTenure: Int64? { integer("accountTenure") }
  public var playTime: Int64? { integer("playTime") }
  public var lifetimeDollarsRefunded: Int64? { integer("lifetimeDollarsRefunded") }
  public var lifetimeDollarsPurchased: Int64? { integer("lifetimeDollarsPurchased") }
  public var userStatus: Int64? { integer("userStatus") }
  public var refundPreference: Int64? { integer("refundPreference") }

  public static let schema = Schema([
    "customerConsented": .flag,
    "consumptionStatus": .code(0...3),
    "platform": .code(0...2),
    "sampleContentProvided": .flag,
    "deliveryStatus": .code(0...5),
    "appAccountToken": .text,
    "accountTenure": .code(0...7),
    "playTime": .code(0...7),
    "lifetimeDollarsRefunded": .code(0...7),
    "lifetimeDollarsPurchased": .code(0...7),
    "userStatus": .code(0...4),
    "refundPreference": .code(0...3),
  ])
}

/// What Set App Account Token asks.
///
/// Apple: appstoreserverapi/updateappaccounttokenrequest.
public struct UpdateAppAccountTokenRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public init(
    appAccountToken: String
  ) {
    json = JSONObject(
      given: ("appAccountToken", .string(appAccountToken)))
  }

  /// A UUID.
  public var appAccountToken: String? { text("appAccountToken") }

  public static let schema = Schema([
    "appAccountToken": .text
  ])
}

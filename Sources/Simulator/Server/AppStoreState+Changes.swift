import HTTPServer
import JSON
import Signing
import Time

/// Developers' changes through the App Store Server API: account tokens, finished purchases, consumption reports.
extension AppStoreState {
  mutating func setAccountToken(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    guard let token = try call.object()["appAccountToken"]?.string, AppStoreState.isUUID(token) else {
      throw .invalidAppAccountTokenUUID
    }
    let (customer, purchase) = try purchase(call, call.parameters[0])
    let transaction = purchase.transaction
    guard transaction.originalTransactionID == call.parameters[0] else { throw .transactionIdNotOriginalTransactionId }
    guard transaction.ownership == .purchased else { throw .familyTransactionNotSupported }
    try act(.setAccountToken(token.lowercased(), originalTransaction: call.parameters[0]), on: customer)
    return SimulatedAPIResponse.empty
  }

  mutating func finish(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let (customer, purchase) = try purchase(call, call.parameters[0])
    if !purchase.isFinished { try act(.finish(transaction: purchase.transaction.transactionID), on: customer) }
    return SimulatedAPIResponse.empty
  }

  /// Performs an act that was checked before; a refusal of the world is Apple's internal error.
  mutating func act(_ act: ManualAction, on customer: CustomerID) throws(APIErrorCode) {
    do { try world.act(act, on: customer) } catch { throw .generalInternal }
    collect()
  }

  /// Handles Send Consumption Information and its deprecated version; retained for people to view.
  mutating func consumption(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    let body = try call.object()
    let rules = call.operation == .sendConsumptionData ? ConsumptionRule.version1 : ConsumptionRule.version2
    for rule in rules where !rule.allows(body[rule.field]) { throw rule.refusal }
    let transaction = try purchase(call, call.parameters[0]).purchase.transaction
    guard transaction.ownership == .purchased else { throw .familyTransactionNotSupported }
    let kind = transaction.product.kind
    guard call.operation != .sendConsumptionData || kind == .consumable || kind == .autoRenewable else {
      throw .invalidTransactionNotConsumable
    }
    if consumption.count < Self.limit {
      consumption.append(
        ConsumptionReport(
          place: call.place, transactionID: transaction.transactionID, date: world.now, body: body))
    }
    return HTTPResponse(status: 202)
  }
}

/// The valid values of a field of a consumption request.
///
/// Apple: ConsumptionRequest and ConsumptionRequestV1.
private struct ConsumptionRule {
  enum Values {
    case yes
    case flag
    case number(ClosedRange<Int64>)
    case word(Set<String>)
    case uuidOrEmpty
  }

  let field: String
  let values: Values
  let isRequired: Bool
  let refusal: APIErrorCode

  init(_ field: String, _ values: Values, required: Bool = false, _ refusal: APIErrorCode) {
    self.field = field
    self.values = values
    isRequired = required
    self.refusal = refusal
  }

  func allows(_ value: JSONValue?) -> Bool {
    guard let value, !value.isNull else { return !isRequired }
    return switch values {
    case .yes: value == .bool(true)
    case .flag: value.bool != nil
    case .number(let range): value.integer.map(range.contains) ?? false
    case .word(let words): value.string.map(words.contains) ?? false
    case .uuidOrEmpty: value.string.map { $0.isEmpty || AppStoreState.isUUID($0) } ?? false
    }
  }

  static let version2 = [
    Self("customerConsented", .yes, required: true, .invalidCustomerConsented),
    Self("consumptionPercentage", .number(0...100_000), .generalBadRequest),
    Self(
      "deliveryStatus",
      .word([
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
      ]), required: true, .invalidDeliveryStatus),
    Self("refundPreference", .word(["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]), .generalBadRequest),
    Self("sampleContentProvided", .flag, required: true, .invalidSampleContentProvided),
  ]

  static let version1 = [
    Self("customerConsented", .yes, required: true, .invalidCustomerConsented),
    Self("appAccountToken", .uuidOrEmpty, .invalidAppAccountToken),
    Self("consumptionStatus", .number(0...3), .invalidConsumptionStatus),
    Self("platform", .number(0...2), .invalidPlatform),
    Self("sampleContentProvided", .flag, .invalidSampleContentProvided),
    Self("deliveryStatus", .number(0...5), .invalidDeliveryStatus),
    Self("accountTenure", .number(0...7), .invalidAccountTenure),
    Self("playTime", .number(0...7), .invalidPlayTime),
    Self("lifetimeDollarsRefunded", .number(0...7), .invalidLifetimeDollarsRefunded),
    Self("lifetimeDollarsPurchased", .number(0...7), .invalidLifetimeDollarsPurchased),
    Self("userStatus", .number(0...4), .invalidUserStatus),
    Self("refundPreference", .number(0...3), .generalBadRequest),
  ]
}

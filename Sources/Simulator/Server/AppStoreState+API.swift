import HTTPServer
import JSON
import Signing

extension AppStoreState {
  mutating func answer(_ call: APICall) -> HTTPResponse {
    do throws(APIErrorCode) { return try perform(call) } catch { return SimulatedAPIResponse.refusal(error) }
  }

  private mutating func perform(_ call: APICall) throws(APIErrorCode) -> HTTPResponse {
    switch call.operation {
    case .getTransactionHistory, .getTransactionHistoryV1: try history(call)
    case .getTransactionInfo: try transactionInfo(call)
    case .getAllSubscriptionStatuses: try statuses(call)
    case .getRefundHistory: try refundHistory(call)
    case .getAppTransactionInfo: try appTransactionInfo(call)
    case .lookUpOrderID: try lookUpOrder(call)
    case .extendSubscriptionRenewalDate: try extend(call)
    case .extendRenewalDateForAllActiveSubscribers: try extendAll(call)
    case .getStatusOfSubscriptionRenewalDateExtensions: try extensionStatus(call)
    case .sendConsumptionInformation, .sendConsumptionData: try consumption(call)
    case .setAppAccountToken: try setAccountToken(call)
    case .finishTransaction: try finish(call)
    case .requestTestNotification: try requestTest(call)
    case .getTestNotificationStatus: try testStatus(call)
    case .getNotificationHistory: try notificationHistory(call)
    }
  }

  // MARK: Owners

  func customer(_ call: APICall, _ id: String) throws(APIErrorCode) -> CustomerID {
    guard Self.isID(id) else { throw .invalidTransactionId }
    guard
      let customer = world.customer(
        ofAnyTransactionID: id, app: call.place.bundleID, environment: call.place.environment)
    else { throw .transactionIdNotFound }
    return customer
  }

  func purchase(
    _ call: APICall, _ id: String
  ) throws(APIErrorCode) -> (customer: CustomerID, purchase: WorldPurchase) {
    let customer = try customer(call, id)
    let purchases = world.transactions(of: customer)
    guard
      let purchase = purchases.first(where: { $0.transaction.transactionID == id })
        ?? purchases.first(where: { $0.restoredTransactionIDs.contains(id) })
    else { throw .appTransactionIdNotSupported }
    return (customer, purchase)
  }

  static func isID(_ text: String) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  static func isUUID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }
}

/// The operations of the App Store Server API 1.21.
package enum APIOperation: String, Hashable, Sendable, CaseIterable {
  case extendRenewalDateForAllActiveSubscribers = "POST /inApps/v1/subscriptions/extend/mass"
  case getStatusOfSubscriptionRenewalDateExtensions = "GET /inApps/v1/subscriptions/extend/mass/{}/{}"
  case extendSubscriptionRenewalDate = "PUT /inApps/v1/subscriptions/extend/{}"
  case getAllSubscriptionStatuses = "GET /inApps/v1/subscriptions/{}"
  case getRefundHistory = "GET /inApps/v2/refund/lookup/{}"
  case requestTestNotification = "POST /inApps/v1/notifications/test"
  case getTestNotificationStatus = "GET /inApps/v1/notifications/test/{}"
  case getNotificationHistory = "POST /inApps/v1/notifications/history"
  case getTransactionHistory = "GET /inApps/v2/history/{}"
  case getTransactionHistoryV1 = "GET /inApps/v1/history/{}"
  case getAppTransactionInfo = "GET /inApps/v1/transactions/appTransactions/{}"
  case getTransactionInfo = "GET /inApps/v1/transactions/{}"
  case lookUpOrderID = "GET /inApps/v1/lookup/{}"
  case sendConsumptionData = "PUT /inApps/v1/transactions/consumption/{}"
  case sendConsumptionInformation = "PUT /inApps/v2/transactions/consumption/{}"
  case setAppAccountToken = "PUT /inApps/v1/transactions/{}/appAccountToken"
  case finishTransaction = "POST /inApps/v1/transactions/{}/finish"

  /// The name of the method in Apple's libraries.
  ///
  /// The two versions of the history share one name.
  package var name: String { "\(self)" }

  /// Returns the requested operation and the variable parts of its path; `nil` for a path that Apple does not have.
  package static func find(method: String, path: String) -> (operation: Self, parameters: [String])? {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    for (operation, asked, pattern) in table where asked == method && pattern.count == segments.count {
      let pairs = zip(pattern, segments)
      guard pairs.allSatisfy({ $0 == "{}" ? !$1.isEmpty : $0 == $1 }) else { continue }
      return (operation, pairs.filter { $0.0 == "{}" }.map { String($0.1) })
    }
    return nil
  }

  /// The order of the cases puts a word before a parameter that would match it.
  private static let table: [(Self, method: Substring, pattern: [Substring])] = allCases.map { operation in
    let words = operation.rawValue.split(separator: " ")
    return (operation, words[0], words[1].split(separator: "/"))
  }
}

package import Mappings

/// What can be asked of Apple; how is a row of `endpoints.tsv`.
public enum Endpoint: String, Hashable, Sendable, CaseIterable {
  case getTransactionHistory, getTransactionHistoryV1, getTransactionInfo, getAppTransactionInfo
  case getAllSubscriptionStatuses, getRefundHistory, lookUpOrderId
  case sendConsumptionInformation, sendConsumptionInformationV1, setAppAccountToken, finishTransaction
  case extendSubscriptionRenewalDate, extendRenewalDatesForAllActiveSubscribers,
    getStatusOfSubscriptionRenewalDateExtensions
  case getNotificationHistory, requestTestNotification, getTestNotificationStatus
  case uploadImage, deleteImage, getImageList, uploadMessage, deleteMessage, getMessageList
  case configureDefaultMessage, deleteDefaultMessage, getDefaultMessage
  case configureRealtimeURL, deleteRealtimeURL, getRealtimeURL
  case initiatePerformanceTest, getPerformanceTestResults
  /// The deprecated one, at another host and without a token.
  case verifyReceipt

  /// Method, path and limits, as Apple documents them.
  package var row: EndpointTable.Row {
    guard let row = Vocabulary.embedded.endpoints[rawValue] else {
      preconditionFailure("endpoints.tsv has no row of \(rawValue); a test holds that it has")
    }
    return row
  }

  /// Whether the call leaves everything as it is.
  public var isReading: Bool {
    switch self {
    case .getTransactionHistory, .getTransactionHistoryV1, .getTransactionInfo, .getAppTransactionInfo,
      .getAllSubscriptionStatuses, .getRefundHistory, .lookUpOrderId, .getStatusOfSubscriptionRenewalDateExtensions,
      .getNotificationHistory, .getTestNotificationStatus, .getImageList, .getMessageList, .getDefaultMessage,
      .getRealtimeURL, .getPerformanceTestResults, .verifyReceipt:
      true
    case .sendConsumptionInformation, .sendConsumptionInformationV1, .setAppAccountToken, .finishTransaction,
      .extendSubscriptionRenewalDate, .extendRenewalDatesForAllActiveSubscribers, .requestTestNotification,
      .uploadImage, .deleteImage, .uploadMessage, .deleteMessage, .configureDefaultMessage, .deleteDefaultMessage,
      .configureRealtimeURL, .deleteRealtimeURL, .initiatePerformanceTest:
      false
    }
  }
}

/// The two of Apple's environments that have servers.
public enum APIEnvironment: String, Hashable, Sendable, CaseIterable {
  case production = "Production"
  case sandbox = "Sandbox"

  public var other: Self {
    switch self {
    case .production: .sandbox
    case .sandbox: .production
    }
  }
}

package import Mappings

/// An endpoint of Apple's: a row of `endpoints.tsv`, by Apple's name.
public struct Endpoint: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String

  /// Nil for a name that the table does not have.
  public init?(rawValue: String) {
    guard Vocabulary.embedded.endpoints[rawValue] != nil else { return nil }
    self.rawValue = rawValue
  }

  private init(_ name: String) { rawValue = name }

  public static let getTransactionHistory = Self("getTransactionHistory")
  public static let getTransactionHistoryV1 = Self("getTransactionHistoryV1")
  public static let getTransactionInfo = Self("getTransactionInfo")
  public static let getAppTransactionInfo = Self("getAppTransactionInfo")
  public static let getAllSubscriptionStatuses = Self("getAllSubscriptionStatuses")
  public static let getRefundHistory = Self("getRefundHistory")
  public static let lookUpOrderId = Self("lookUpOrderId")
  public static let sendConsumptionInformation = Self("sendConsumptionInformation")
  public static let sendConsumptionInformationV1 = Self("sendConsumptionInformationV1")
  public static let setAppAccountToken = Self("setAppAccountToken")
  public static let finishTransaction = Self("finishTransaction")
  public static let extendSubscriptionRenewalDate = Self("extendSubscriptionRenewalDate")
  public static let extendRenewalDatesForAllActiveSubscribers = Self("extendRenewalDatesForAllActiveSubscribers")
  public static let getStatusOfSubscriptionRenewalDateExtensions = Self("getStatusOfSubscriptionRenewalDateExtensions")
  public static let getNotificationHistory = Self("getNotificationHistory")
  public static let requestTestNotification = Self("requestTestNotification")
  public static let getTestNotificationStatus = Self("getTestNotificationStatus")
  /// The deprecated one, at another host and without a token.
  public static let verifyReceipt = Self("verifyReceipt")

  public var description: String { rawValue }

  /// Method, path and limits, as Apple documents them.
  package var row: EndpointTable.Row {
    guard let row = Vocabulary.embedded.endpoints[rawValue] else {
      preconditionFailure("endpoints.tsv has no row of \(rawValue); a test holds that it has")
    }
    return row
  }

  /// Whether the call leaves everything as it is.
  public var isReading: Bool { !row.changes }
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

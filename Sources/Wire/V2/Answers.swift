public import JSON

/// The answer of Get All Subscription Statuses.
///
/// Apple: appstoreserverapi/statusresponse.
public struct StatusResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var environment: String? { text("environment") }
  public var bundleId: String? { text("bundleId") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var data: [SubscriptionGroupItem]? { structures("data") }

  public static let schema = Schema([
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "bundleId": .text,
    "appAppleId": .integer,
    "data": .structures(SubscriptionGroupItem.schema),
  ])
}

/// The subscriptions of one group.
///
/// Apple: appstoreserverapi/subscriptiongroupidentifieritem.
public struct SubscriptionGroupItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var subscriptionGroupIdentifier: String? { text("subscriptionGroupIdentifier") }
  public var lastTransactions: [LastTransactionsItem]? { structures("lastTransactions") }

  public static let schema = Schema([
    "subscriptionGroupIdentifier": .text,
    "lastTransactions": .structures(LastTransactionsItem.schema),
  ])
}

/// The latest transaction of a subscription, and its status as Apple sees it.
///
/// Apple: appstoreserverapi/lasttransactionsitem.
public struct LastTransactionsItem: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var status: Int64? { integer("status") }
  public var originalTransactionId: String? { text("originalTransactionId") }
  public var signedTransactionInfo: String? { text("signedTransactionInfo") }
  public var signedRenewalInfo: String? { text("signedRenewalInfo") }

  public static let schema = Schema([
    "status": .code(1...5),
    "originalTransactionId": .text,
    "signedTransactionInfo": .text,
    "signedRenewalInfo": .text,
  ])
}

/// The answer of Get Transaction History, a page of it.
///
/// Apple: appstoreserverapi/historyresponse.
public struct HistoryResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var revision: String? { text("revision") }
  public var hasMore: Bool? { flag("hasMore") }
  public var bundleId: String? { text("bundleId") }
  public var appAppleId: Int64? { integer("appAppleId") }
  public var environment: String? { text("environment") }
  public var signedTransactions: [String]? { texts("signedTransactions") }

  public static let schema = Schema([
    "revision": .text,
    "hasMore": .flag,
    "bundleId": .text,
    "appAppleId": .integer,
    "environment": .word(DocumentedValues.appStoreEnvironment),
    "signedTransactions": .texts,
  ])
}

/// The answer of Get Refund History, a page of it.
///
/// Apple: appstoreserverapi/refundhistoryresponse.
public struct RefundHistoryResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedTransactions: [String]? { texts("signedTransactions") }
  public var revision: String? { text("revision") }
  public var hasMore: Bool? { flag("hasMore") }

  public static let schema = Schema([
    "signedTransactions": .texts,
    "revision": .text,
    "hasMore": .flag,
  ])
}

/// The answer of Look Up Order ID.
///
/// Apple: appstoreserverapi/orderlookupresponse.
public struct OrderLookupResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var status: Int64? { integer("status") }
  public var signedTransactions: [String]? { texts("signedTransactions") }
  /// Whether Apple knows no such order of the app: all that it says then is this.
  public var isInvalidOrder: Bool {
    status == 1 && json["signedTransactions"]?.array?.isEmpty != false && json["receipt"] == nil
      && json["latest_receipt_info"] == nil
  }

  public static let schema = Schema([
    "status": .code(0...1),
    "signedTransactions": .texts,
  ])
}

/// The answer of Get Transaction Info.
///
/// Apple: appstoreserverapi/transactioninforesponse.
public struct TransactionInfoResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedTransactionInfo: String? { text("signedTransactionInfo") }

  public static let schema = Schema([
    "signedTransactionInfo": .text
  ])
}

/// The answer of Get App Transaction Info.
///
/// Apple: appstoreserverapi/apptransactioninforesponse.
public struct AppTransactionInfoResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var signedAppTransactionInfo: String? { text("signedAppTransactionInfo") }

  public static let schema = Schema([
    "signedAppTransactionInfo": .text
  ])
}

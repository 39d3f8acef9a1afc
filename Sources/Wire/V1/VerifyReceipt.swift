public import JSON
public import Time

/// What a client sends to verifyReceipt.
///
/// Apple: appstorereceipts/requestbody.
public struct VerifyReceiptRequest: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  /// Base64, often damaged on the way.
  public var receiptData: String? { text("receipt-data") }
  public var password: String? { looseText("password") }
  public var excludeOldTransactions: Bool? { looseFlag("exclude-old-transactions") }

  public static let schema = Schema([
    "receipt-data": .text, "password": .loose(.text), "exclude-old-transactions": .loose(.flag),
  ])
}

/// What verifyReceipt answers: about an app receipt with arrays, about an iOS 6 receipt with flat objects.
///
/// `status` alone is always there. Apple: appstorereceipts/responsebody.
public struct VerifyReceiptResponse: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var status: Int64? { looseInteger("status") }
  public var environment: String? { looseText("environment") }
  /// The receipt's own rows, or the one transaction of an iOS 6 receipt.
  public var receipt: DecodedReceipt? { structure("receipt") }
  /// Nil in an iOS 6 answer.
  public var latestReceiptInfo: [V1TransactionRow]? { isFlat ? nil : rows("latest_receipt_info") }
  /// The one row of an iOS 6 answer, whichever of the two keys it has; empty in every other answer.
  public var latestTransactions: [V1TransactionRow] {
    isFlat ? rows("latest_receipt_info") ?? rows("latest_expired_receipt_info") ?? [] : []
  }
  /// Whether the subscription of an iOS 6 receipt is over.
  public var tellsOfAnEnd: Bool {
    !(json["latest_expired_receipt_info"]?.isNull ?? true) || json["expiration_intent"] != nil
  }
  public var latestReceipt: String? { text("latest_receipt") }
  public var pendingRenewalInfo: [PendingRenewalInfo]? { rows("pending_renewal_info") }
  /// Apple's page called it `is-retryable`, on the wire it is `is_retryable`.
  public var isRetryable: Bool? { looseFlag("is_retryable") ?? looseFlag("is-retryable") }

  public static let schema = Schema([
    "status": .loose(.integer), "environment": .loose(.word(DocumentedValues.environmentV1)),
    "receipt": .structure(DecodedReceipt.schema), "latest_receipt_info": .rows(V1TransactionRow.schema),
    "latest_receipt": .text, "pending_renewal_info": .rows(PendingRenewalInfo.schema),
    "is_retryable": .loose(.flag), "is-retryable": .loose(.flag), "exception": .text,
  ])

  /// The same of an answer about an iOS 6 receipt.
  public static let flatSchema = Schema([
    "status": .loose(.integer), "environment": .loose(.word(DocumentedValues.environmentV1)),
    "receipt": .structure(V1TransactionRow.schema), "latest_receipt_info": .rows(V1TransactionRow.schema),
    "latest_expired_receipt_info": .rows(V1TransactionRow.schema), "latest_receipt": .text,
    "auto_renew_status": .loose(.flag), "auto_renew_product_id": .loose(.text),
    "expiration_intent": .loose(.code(1...5)), "is_in_billing_retry_period": .loose(.flag),
  ])

  /// Whether it is about an iOS 6 receipt: the transaction is `receipt` itself, or without a receipt one row is all there is.
  public var isFlat: Bool {
    let receipt = json["receipt"]?.object
    guard receipt?["in_app"] == nil else { return false }
    if receipt?["transaction_id"] != nil { return true }
    return json["latest_receipt_info"]?.array == nil
      && (json["latest_receipt_info"]?.object != nil || json["latest_expired_receipt_info"] != nil)
  }

  public func survey() -> UndocumentedContent {
    var survey = UndocumentedContent()
    (isFlat ? Self.flatSchema : Self.schema).survey(json, path: "", into: &survey)
    return survey
  }
}

/// The app receipt as verifyReceipt decodes it.
///
/// Apple: appstorereceipts/responsebody/receipt.
public struct DecodedReceipt: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  /// `Production`, `ProductionVPP`, `ProductionSandbox`, `ProductionVPPSandbox`.
  public var receiptType: String? { looseText("receipt_type") }
  /// `bid` in an iOS 6 receipt.
  public var bundleID: String? { looseText("bundle_id") ?? looseText("bid") }
  /// May exceed 2^53.
  public var downloadID: Int64? { looseInteger("download_id") }
  public var appItemID: Int64? { looseInteger("app_item_id") ?? looseInteger("adam_id") }
  public var applicationVersion: String? { looseText("application_version") }
  public var originalApplicationVersion: String? { looseText("original_application_version") }
  public var receiptCreationDate: Timestamp? { looseDate("receipt_creation_date") }
  public var requestDate: Timestamp? { looseDate("request_date") }
  public var originalPurchaseDate: Timestamp? { looseDate("original_purchase_date") }
  public var expirationDate: Timestamp? { looseDate("expiration_date") }
  public var preorderDate: Timestamp? { looseDate("preorder_date") }
  /// In the order of the receipt, which means nothing.
  public var inApp: [V1TransactionRow]? { rows("in_app") }

  public static let schema = Schema(
    [
      "receipt_type": .loose(
        .word(["Production", "ProductionVPP", "ProductionSandbox", "ProductionVPPSandbox", "Sandbox", "Xcode"])),
      "adam_id": .loose(.integer), "app_item_id": .loose(.integer), "download_id": .loose(.integer),
      "version_external_identifier": .loose(.integer), "bundle_id": .loose(.text),
      "application_version": .loose(.text), "original_application_version": .loose(.text),
      "in_app": .rows(V1TransactionRow.schema),
    ],
    Schema.dates(
      "receipt_creation_date", "request_date", "original_purchase_date", "expiration_date", "preorder_date"))
}

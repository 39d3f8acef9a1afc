public import JSON
public import Time

/// A notification of the first generation: unsigned, without id and without a time of its own.
///
/// Three eras: iOS 6 objects alone (2017 to 2019), beside them a unified receipt (to March 2021), the unified receipt
/// alone. Apple: appstoreservernotifications/responsebodyv1.
public struct V1NotificationBody: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var notificationType: String? { looseText("notification_type") }
  /// The shared secret: all that vouches for the sender.
  public var password: String? { looseText("password") }
  /// `PROD` or `Sandbox`; `Production` has been seen.
  public var environment: String? { looseText("environment") }
  public var bundleID: String? { looseText("bid") }
  /// A number since about 2021, absent before.
  public var originalTransactionID: String? { looseText("original_transaction_id") }
  public var autoRenewProductID: String? { looseText("auto_renew_product_id") }
  public var autoRenewStatus: Bool? { looseFlag("auto_renew_status") }
  /// Of DID_CHANGE_RENEWAL_STATUS alone.
  public var autoRenewStatusChangeDate: Timestamp? { looseDate("auto_renew_status_change_date") }
  public var expirationIntent: Int64? { looseInteger("expiration_intent") }
  /// Of CANCEL alone.
  public var cancellationDate: Timestamp? { looseDate("cancellation_date") }
  /// Of CANCEL alone: the row that was taken back.
  public var webOrderLineItemID: String? { looseText("web_order_line_item_id") }
  public var unifiedReceipt: UnifiedReceipt? { structure("unified_receipt") }
  public var latestReceipt: String? { text("latest_receipt") ?? text("latest_expired_receipt") }
  public var latestReceiptInfo: [V1TransactionRow] { rows("latest_receipt_info") ?? [] }
  public var latestExpiredReceiptInfo: [V1TransactionRow] { rows("latest_expired_receipt_info") ?? [] }

  public static let schema = Schema(
    [
      "notification_type": .loose(.word(DocumentedValues.notificationTypeV1)), "password": .loose(.text),
      "environment": .loose(.word(DocumentedValues.environmentV1)), "bid": .loose(.text), "bvrs": .loose(.text),
      "original_transaction_id": .loose(.text), "auto_renew_product_id": .loose(.text),
      "auto_renew_status": .loose(.flag), "auto_renew_adam_id": .loose(.text),
      "expiration_intent": .loose(.code(1...5)), "deprecation": .text, "web_order_line_item_id": .loose(.text),
      "unified_receipt": .structure(UnifiedReceipt.schema), "latest_receipt": .text,
      "latest_receipt_info": .rows(V1TransactionRow.schema), "latest_expired_receipt": .text,
      "latest_expired_receipt_info": .rows(V1TransactionRow.schema),
    ], Schema.dates("auto_renew_status_change_date", "cancellation_date"))
}

/// The receipt of a notification, decoded; at most the newest 100 rows.
///
/// `status` is 0, and was the text `OK` in 2019. Apple: appstoreservernotifications/unified_receipt.
public struct UnifiedReceipt: Payload {
  public let json: JSONObject

  public init(_ json: JSONObject) { self.json = json }

  public var environment: String? { looseText("environment") }
  public var latestReceipt: String? { text("latest_receipt") }
  /// In no order that could be relied on.
  public var latestReceiptInfo: [V1TransactionRow]? { rows("latest_receipt_info") }
  public var pendingRenewalInfo: [PendingRenewalInfo]? { rows("pending_renewal_info") }

  public static let schema = Schema([
    "status": .loose(.word(["0", "OK"])), "environment": .loose(.word(DocumentedValues.environmentV1)),
    "latest_receipt": .text,
    "latest_receipt_info": .rows(V1TransactionRow.schema), "pending_renewal_info": .rows(PendingRenewalInfo.schema),
  ])
}

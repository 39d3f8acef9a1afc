package import JSON
import Time

/// The values of a purchase by the number of their attribute, for tables that speak of numbers.
extension ReceiptPurchase {
  /// Nil for what is not there or not known.
  package func value(ofAttribute number: Int64) -> JSONValue? {
    switch number {
    case 1701: quantity.map(JSONValue.integer)
    case 1702: productID.map(JSONValue.string)
    case 1703: transactionID.map(JSONValue.string)
    case 1704: purchaseDate.map { .integer($0.sinceEpoch) }
    case 1705: originalTransactionID.map(JSONValue.string)
    case 1706: originalPurchaseDate.map { .integer($0.sinceEpoch) }
    case 1707: productType.map { .integer($0.rawValue) }
    case 1708: expiresDate.map { .integer($0.sinceEpoch) }
    case 1710: itemID.map(JSONValue.integer)
    case 1711: webOrderLineItemID.map(JSONValue.integer)
    case 1712: cancellationDate.map { .integer($0.sinceEpoch) }
    case 1713: isTrialPeriod.map(JSONValue.bool)
    case 1719: isInIntroOfferPeriod.map(JSONValue.bool)
    case 1720: cancellationReason.map(JSONValue.integer)
    case 1721: promotionalOfferID.map(JSONValue.string)
    case 1722: ownership.map { .integer($0.rawValue) }
    default: nil
    }
  }
}

/// The values of a transaction by their key.
extension TransactionReceipt {
  /// Nil for what is not there or not known.
  package func value(ofKey key: String) -> JSONValue? {
    switch key {
    case "transaction-id": transactionID.map(JSONValue.string)
    case "original-transaction-id": originalTransactionID.map(JSONValue.string)
    case "web-order-line-item-id": webOrderLineItemID.map(JSONValue.string)
    case "product-id": productID.map(JSONValue.string)
    case "subscription-group-identifier": subscriptionGroupIdentifier.map(JSONValue.string)
    case "purchase-date-ms": purchaseDate.map { .integer($0.sinceEpoch) }
    case "original-purchase-date-ms": originalPurchaseDate.map { .integer($0.sinceEpoch) }
    case "expires-date": expiresDate.map { .integer($0.sinceEpoch) }
    case "quantity": quantity.map(JSONValue.integer)
    case "cancellation-date-ms": cancellationDate.map { .integer($0.sinceEpoch) }
    case "is-trial-period": isTrialPeriod.map(JSONValue.bool)
    case "is-in-intro-offer-period": isInIntroOfferPeriod.map(JSONValue.bool)
    default: nil
    }
  }
}

/// The values of an app receipt by the number of their attribute.
extension AppReceipt {
  /// Nil for what is not there or not known; the purchases (17) are not among them.
  package func value(ofAttribute number: Int64) -> JSONValue? {
    switch number {
    case 0: receiptType.map(JSONValue.string)
    case 1: appItemID.map(JSONValue.integer)
    case 2: bundleID.map(JSONValue.string)
    case 3: applicationVersion.map(JSONValue.string)
    case 8: transactionDate.map { .integer($0.sinceEpoch) }
    case 12: createdAt.map { .integer($0.sinceEpoch) }
    case 15: downloadID.map(JSONValue.integer)
    case 16: versionExternalIdentifier.map(JSONValue.integer)
    case 18: originalPurchaseDate.map { .integer($0.sinceEpoch) }
    case 19: originalApplicationVersion.map(JSONValue.string)
    case 21: expirationDate.map { .integer($0.sinceEpoch) }
    case 32: preorderDate.map { .integer($0.sinceEpoch) }
    default: nil
    }
  }
}

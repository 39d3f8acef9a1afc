import JSON
import Receipts
import Time

/// A purchase of either kind of receipt, with stable keys.
struct PurchaseRow {
  let json: JSONObject

  init(_ purchase: ReceiptPurchase) {
    json = [
      "productId": JSONValue(purchase.productID), "transactionId": JSONValue(purchase.transactionID),
      "originalTransactionId": JSONValue(purchase.originalIdentity),
      "webOrderLineItemId": JSONValue(purchase.webOrderLineItemID.map { String($0) }),
      "type": JSONValue(purchase.productType?.rawValue), "quantity": JSONValue(purchase.quantity),
      "purchaseDate": Self.date(purchase.purchaseDate),
      "originalPurchaseDate": Self.date(purchase.originalPurchaseDate), "expiresDate": Self.date(purchase.expiresDate),
      "cancellationDate": Self.date(purchase.cancellationDate), "isTrialPeriod": Self.flag(purchase.isTrialPeriod),
      "isInIntroOfferPeriod": Self.flag(purchase.isInIntroOfferPeriod),
      "typeName": JSONValue(purchase.productType?.name), "promotionalOfferId": JSONValue(purchase.promotionalOfferID),
      "cancellationReason": JSONValue(purchase.cancellationReason), "itemId": JSONValue(purchase.itemID),
      "inAppOwnershipType": JSONValue(purchase.ownership?.name),
    ]
  }

  init(_ receipt: TransactionReceipt) {
    json = [
      "productId": JSONValue(receipt.productID), "transactionId": JSONValue(receipt.transactionID),
      "originalTransactionId": JSONValue(receipt.originalIdentity),
      "webOrderLineItemId": JSONValue(receipt.webOrderLineItemID), "type": .null,
      "quantity": JSONValue(receipt.quantity), "purchaseDate": Self.date(receipt.purchaseDate),
      "originalPurchaseDate": Self.date(receipt.originalPurchaseDate), "expiresDate": Self.date(receipt.expiresDate),
      "cancellationDate": Self.date(receipt.cancellationDate), "isTrialPeriod": Self.flag(receipt.isTrialPeriod),
      "isInIntroOfferPeriod": Self.flag(receipt.isInIntroOfferPeriod), "itemId": JSONValue(receipt.itemID),
    ]
  }

  var cells: [String] {
    func text(_ key: String) -> String { json[key]?.string ?? "-" }
    func date(_ key: String) -> String { json[key]?.milliseconds?.iso8601 ?? "-" }
    let type = json["typeName"]?.string ?? json["type"]?.integer.map { String($0) } ?? "-"
    return [
      text("originalTransactionId"), text("transactionId"), text("productId"), type, date("purchaseDate"),
      date("expiresDate"), date("cancellationDate"),
    ]
  }

  private static func date(_ date: Timestamp?) -> JSONValue { JSONValue(date?.sinceEpoch) }
  private static func flag(_ flag: Bool?) -> JSONValue { flag.map(JSONValue.bool) ?? .null }
}

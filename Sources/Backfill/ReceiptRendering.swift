import JSON
import Purchases
import Receipts
import Time

/// The keys of `switchyard receipt inspect`, of one usable receipt.
///
/// `verified` is false and `reason` "notVerified" when nobody was asked to prove it.
struct ReceiptRendering {
  let receipt: Receipt
  let isVerified: Bool
  let originalTransactionIDs: [String]

  private var app: AppReceipt? { if case .app(let app) = receipt { app } else { nil } }

  var kind: String { app == nil ? "transaction" : "app" }
  var environment: String? { receipt.environment?.rawValue }
  var receiptType: String? { app?.receiptType }
  var createdAt: Timestamp? { app?.createdAt }
  static let notVerified = "notVerified"

  /// The members, from `kind` on, with the closing brace.
  func append(to output: inout [UInt8]) {
    output.append(#""kind":""#)
    output.append(kind)
    output.append(#"","verified":"#)
    output.append(json: isVerified)
    output.append(#","reason":"#)
    output.append(json: isVerified ? nil : Self.notVerified)
    output.append(#","bundleId":"#)
    output.append(json: receipt.bundleID)
    output.append(#","environment":"#)
    output.append(json: environment)
    output.append(#","receiptType":"#)
    output.append(json: receiptType)
    output.append(#","createdAt":"#)
    output.append(json: createdAt)
    output.append(#","originalTransactionIds":["#)
    for (index, id) in originalTransactionIDs.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      output.append(json: id)
    }
    output.append(#"],"purchases":"#)
    appendPurchases(to: &output)
    output.append(UInt8(ascii: "}"))
  }

  func appendPurchases(to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    switch receipt {
    case .app(let receipt):
      for (index, purchase) in receipt.purchases.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        append(purchase, to: &output)
      }
    case .transaction(let receipt): append(receipt, to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private func append(_ purchase: ReceiptPurchase, to output: inout [UInt8]) {
    output.append(#"{"productId":"#)
    output.append(json: purchase.productID)
    output.append(#","transactionId":"#)
    output.append(json: purchase.transactionID)
    output.append(#","originalTransactionId":"#)
    output.append(json: purchase.originalIdentity)
    output.append(#","webOrderLineItemId":"#)
    if let id = purchase.webOrderLineItemID {
      output.append(UInt8(ascii: "\""))
      output.append(number: id)
      output.append(UInt8(ascii: "\""))
    } else {
      output.append("null")
    }
    output.append(#","type":"#)
    output.append(json: purchase.productType?.rawValue)
    output.append(#","quantity":"#)
    output.append(json: purchase.quantity)
    appendDates(
      purchase.purchaseDate, purchase.originalPurchaseDate, purchase.expiresDate, purchase.cancellationDate,
      to: &output)
    appendFlags(purchase.isTrialPeriod, purchase.isInIntroOfferPeriod, to: &output)
  }

  private func append(_ receipt: TransactionReceipt, to output: inout [UInt8]) {
    output.append(#"{"productId":"#)
    output.append(json: receipt.productID)
    output.append(#","transactionId":"#)
    output.append(json: receipt.transactionID)
    output.append(#","originalTransactionId":"#)
    output.append(json: receipt.originalIdentity)
    output.append(#","webOrderLineItemId":"#)
    output.append(json: receipt.webOrderLineItemID)
    output.append(#","type":null,"quantity":"#)
    output.append(json: receipt.quantity)
    appendDates(
      receipt.purchaseDate, receipt.originalPurchaseDate, receipt.expiresDate, receipt.cancellationDate, to: &output)
    appendFlags(receipt.isTrialPeriod, receipt.isInIntroOfferPeriod, to: &output)
  }

  private func appendDates(
    _ purchase: Timestamp?, _ original: Timestamp?, _ expires: Timestamp?, _ cancellation: Timestamp?,
    to output: inout [UInt8]
  ) {
    output.append(#","purchaseDate":"#)
    output.append(json: purchase)
    output.append(#","originalPurchaseDate":"#)
    output.append(json: original)
    output.append(#","expiresDate":"#)
    output.append(json: expires)
    output.append(#","cancellationDate":"#)
    output.append(json: cancellation)
  }

  private func appendFlags(_ trial: Bool?, _ introductory: Bool?, to output: inout [UInt8]) {
    output.append(#","isTrialPeriod":"#)
    output.append(json: trial)
    output.append(#","isInIntroOfferPeriod":"#)
    output.append(json: introductory)
    output.append(UInt8(ascii: "}"))
  }
}

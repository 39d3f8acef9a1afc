package import Signing
import Time

/// The receipt of one transaction, as in iOS 6.
package struct SimulatedTransactionReceipt: Sendable {
  package var transaction: SimulatedTransaction
  /// 2 or 3; tests use other values.
  package var version: UInt8 = 3
  /// The unsigned environment next to the signed data; `nil` omits it, as in Production.
  package var environment: String?

  /// V1's values, after any restores.
  private let transactionID: String
  private let originalPurchaseDate: Timestamp

  package init(_ transaction: SimulatedTransaction) { self.init(SimulatedReceipt.Purchase(transaction)) }

  package init(_ purchase: SimulatedReceipt.Purchase) {
    transaction = purchase.transaction
    transactionID = purchase.transactionID
    originalPurchaseDate = purchase.originalPurchaseDate
    environment = transaction.environment == .production ? nil : transaction.environment.rawValue
  }

  /// Returns the property list in base64, as clients send it.
  ///
  /// Version 2 needs a signer of 1,024 bits, version 3 one of 2,048.
  package func encoded(
    signedBy signer: CertificateAuthority, info: [UInt8]? = nil
  ) throws(CertificateError) -> [UInt8] {
    let info = info ?? purchaseInfo
    let der = signer.certificate.der
    let signature = try signer.key.signature(of: [version] + info, hashedWith: .sha1)
    let length = (0..<4).map { UInt8(truncatingIfNeeded: der.count >> (24 - 8 * $0)) }
    func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.standard.encode(bytes), as: UTF8.self) }
    var lines = [
      ("signature", base64([version] + signature + length + der)), ("purchase-info", base64(info)),
    ]
    if let environment { lines.append(("environment", environment)) }
    lines += [("pod", "100"), ("signing-status", "0")]
    return Base64.standard.encode(Self.propertyList(lines))
  }

  package var purchaseInfo: [UInt8] { Self.propertyList(pairs) }

  /// The signed keys and values, in Apple's order as far as real receipts of 2012 and 2015 show it.
  ///
  /// verifyReceipt returns them with underscores. Apple: the last three, in responses seen since 2017.
  package var pairs: [(key: String, value: String)] {
    func pacific(_ date: Timestamp) -> String { PacificTime.text(date) }
    let (bought, first) = (transaction.purchaseDate, originalPurchaseDate)
    var pairs = [
      ("original-purchase-date-pst", pacific(first)), ("purchase-date-ms", String(bought.sinceEpoch)),
      ("unique-identifier", String(repeating: "0", count: 40)),
      ("original-transaction-id", transaction.originalTransactionID),
    ]
    if let end = transaction.expiresDate { pairs.append(("expires-date", String(end.sinceEpoch))) }
    pairs += [("transaction-id", transactionID), ("original-purchase-date-ms", String(first.sinceEpoch))]
    if let id = transaction.webOrderLineItemID { pairs.append(("web-order-line-item-id", id)) }
    pairs += [("bvrs", "20120427"), ("unique-vendor-identifier", "00000000-0000-0000-0000-000000000000")]
    if let end = transaction.expiresDate { pairs.append(("expires-date-formatted-pst", pacific(end))) }
    pairs.append(("item-id", itemID))
    if let end = transaction.expiresDate { pairs.append(("expires-date-formatted", SimulatedV1Date.gmt(end))) }
    pairs += [
      ("product-id", transaction.product.id), ("purchase-date", SimulatedV1Date.gmt(bought)),
      ("original-purchase-date", SimulatedV1Date.gmt(first)), ("bid", transaction.bundleID),
      ("purchase-date-pst", pacific(bought)), ("quantity", String(transaction.quantity)),
    ]
    guard transaction.product.kind == .autoRenewable else { return pairs }
    pairs += [
      ("is-trial-period", String(transaction.isTrialPeriod)),
      ("is-in-intro-offer-period", String(transaction.isInIntroOfferPeriod)),
    ]
    if let group = transaction.product.subscriptionGroupID { pairs.append(("subscription-group-identifier", group)) }
    return pairs
  }

  /// Apple's number for the product, of realistic length.
  private var itemID: String {
    String(521_000_000 + transaction.product.id.utf8.reduce(0) { ($0 * 31 + Int($1)) % 999_983 })
  }

  private static func propertyList(_ lines: [(String, String)]) -> [UInt8] {
    Array("{\n\(lines.map { "\t\"\($0.0)\" = \"\($0.1)\";\n" }.joined())}".utf8)
  }
}

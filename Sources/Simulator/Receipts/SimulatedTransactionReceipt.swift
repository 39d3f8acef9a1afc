package import Signing
import Time

/// The receipt of one transaction as iOS 6 made it.
package struct SimulatedTransactionReceipt: Sendable {
  package var transaction: SimulatedTransaction
  /// 2 or 3; what else it may say is for tests.
  package var version: UInt8 = 3
  /// The unsigned claim beside it; nil leaves it out, as in Production.
  package var environment: String?

  /// As V1 tells them, after any restores.
  private let transactionID: String
  private let originalPurchaseDate: Milliseconds

  package init(_ transaction: SimulatedTransaction) { self.init(SimulatedReceipt.Purchase(transaction)) }

  package init(_ purchase: SimulatedReceipt.Purchase) {
    transaction = purchase.transaction
    transactionID = purchase.transactionID
    originalPurchaseDate = purchase.originalPurchaseDate
    environment = transaction.environment == .production ? nil : transaction.environment.rawValue
  }

  /// The property list in base64, as clients send it.
  ///
  /// Version 2 takes a signer of 1,024 bits, version 3 one of 2,048.
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

  /// What is signed.
  package var purchaseInfo: [UInt8] {
    func milliseconds(_ date: Milliseconds) -> String { String(date.sinceEpoch) }
    var lines = [
      ("original-transaction-id", transaction.originalTransactionID), ("bvrs", "20120427"),
      ("transaction-id", transactionID), ("quantity", String(transaction.quantity)),
      ("original-purchase-date-ms", milliseconds(originalPurchaseDate)),
      ("product-id", transaction.product.id), ("item-id", "521129812"), ("bid", transaction.bundleID),
      ("purchase-date-ms", milliseconds(transaction.purchaseDate)),
    ]
    if let date = transaction.expiresDate { lines.append(("expires-date", milliseconds(date))) }
    if let id = transaction.webOrderLineItemID { lines.append(("web-order-line-item-id", id)) }
    return Self.propertyList(lines)
  }

  private static func propertyList(_ lines: [(String, String)]) -> [UInt8] {
    Array("{\n\(lines.map { "\t\"\($0.0)\" = \"\($0.1)\";\n" }.joined())}".utf8)
  }
}

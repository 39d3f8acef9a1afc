import JSON
package import Mappings
package import Purchases
package import Receipts
package import Signing
package import Time

/// Maps receipts, verified or not, to statements of a separate source, by the table of `Mappings`.
package struct ReceiptMapping: Sendable {
  private let table: ReceiptTable
  /// Whether Xcode's "0" is accepted as an ID, for inspection, never for storage.
  private let takesTestIdentities: Bool

  package init(vocabulary: Vocabulary = .embedded, takesTestIdentities: Bool = false) {
    table = vocabulary.receipts
    self.takesTestIdentities = takesTestIdentities
  }

  /// Returns a proven receipt's statements at its own date, with its purchases joined as one customer's.
  ///
  /// Returns `nil` without an app, or if neither the receipt nor `environment` determines the environment; iOS 6
  /// receipts never do.
  ///
  /// - Parameter environment: of a receipt that signs none: only one that Apple itself reported. Apple signs receipts
  ///   of the sandbox and of Production alike, so an unsigned value would make a free purchase a paid one.
  package func findings(
    of receipt: VerifiedReceipt, environment: Environment? = nil, message: Digest
  ) -> Findings? {
    guard
      var findings = findings(
        of: receipt.receipt, .verifiedReceipt, asOf: receipt.proof.validAt, environment, message)
    else { return nil }
    findings.links = CustomerLink.chain(
      receipt.receipt.originalTransactionIDs, app: findings.app, environment: findings.environment)
    return findings
  }

  /// Returns the statements of a receipt without a proven signature or environment.
  ///
  /// It joins no customers, and is never later than its arrival.
  ///
  /// - Parameter source: the source of the statements.
  package func unverifiedFindings(
    of receipt: Receipt, as source: Source = .unverifiedReceipt, environment: Environment? = nil,
    receivedAt: Timestamp, message: Digest
  ) -> Findings? {
    let asOf = receipt.signedAt.map { min($0, receivedAt) } ?? receivedAt
    return findings(of: receipt, source, asOf: asOf, environment, message)
  }

  private func findings(
    of receipt: Receipt, _ source: Source, asOf: Timestamp, _ fallback: Environment?, _ message: Digest
  ) -> Findings? {
    guard let app = receipt.bundleID, let environment = receipt.environment ?? fallback else { return nil }
    let purchases: [(original: String?, facts: Facts<PurchaseField>)] =
      switch receipt {
      case .app(let receipt):
        receipt.purchases.map { purchase in
          (identity(purchase), facts { $0.attribute.flatMap(purchase.value(ofAttribute:)) })
        }
      case .transaction(let receipt):
        [(receipt.originalIdentity, facts { $0.key.flatMap(receipt.value(ofKey:)) })]
      }
    var findings = Findings(app: app, environment: environment)
    findings.purchases = purchases.compactMap { purchase in
      guard let original = purchase.original else { return nil }
      var facts = purchase.facts
      facts.set(.originalTransactionId, .string(original))
      let line = Line(
        webOrderLineItemID: facts.text(.webOrderLineItemId), purchaseDate: facts.date(.purchaseDate),
        isSubscription: facts.isSubscription)
      return PurchaseStatement(
        key: PurchaseKey(app: app, environment: environment, originalTransactionID: original, line: line),
        source: source, rank: Rank(asOf: asOf, facts, in: message), facts: facts, message: message.bytes)
    }
    return findings
  }

  private func identity(_ purchase: ReceiptPurchase) -> String? {
    purchase.originalIdentity ?? (takesTestIdentities ? purchase.originalTransactionID ?? purchase.transactionID : nil)
  }

  private func facts(_ value: (ReceiptTable.Row) -> JSONValue?) -> Facts<PurchaseField> {
    var facts = Facts<PurchaseField>()
    for row in table.rows {
      guard let value = value(row).flatMap({ Self.taken($0, row) }) else { continue }
      facts.set(row.field, value)
    }
    return facts
  }

  private static func taken(_ value: JSONValue, _ row: ReceiptTable.Row) -> JSONValue? {
    switch row.form {
    case .text: value.string.map(JSONValue.string) ?? value.integer.map { .string(String($0)) }
    case .integer, .date: value
    case .productType:
      value.integer.flatMap { ReceiptProductType(rawValue: $0).name }.map(JSONValue.string)
    case .introductory: value.bool == true ? 1 : nil
    case .freeTrial: value.bool == true ? "FREE_TRIAL" : nil
    case .promotional: value.string == nil ? nil : 2
    }
  }
}

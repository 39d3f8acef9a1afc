package import JSON
package import Signing
package import Time

/// A customer of a simulated world: what Apple sent about them, the receipt on their device, and what is true.
package struct WorldCustomer: Sendable {
  /// Among all customers, from 0.
  package let number: Int
  package let app: SimulatedApp
  package let userID: String
  package let customer: Customer
  /// Everything Apple told of them, the earliest first, not signed yet.
  package let notifications: [NotificationDraft]
  /// Every charge and grant as it stands at the end, the oldest first.
  package let purchases: [SimulatedTransaction]
  /// Nil for somebody who only ever bought things once.
  package let subscription: SubscriptionLife?
  package let receiptKind: ReceiptKind
  /// The end of what is told.
  package let asOf: Milliseconds

  /// The generation of the receipt that the customer's device has.
  package enum ReceiptKind: String, Sendable, CaseIterable {
    /// Signed with SHA-256, since 2023.
    case current
    /// Signed with SHA-1, until 2023.
    case sha1
    /// Of one transaction, as iOS 6 made them.
    case transaction
  }

  /// The distinct ids by which Apple's history finds everything, as the receipt has them.
  package var originalTransactionIDs: [String] {
    var seen: Set<String> = []
    return receiptPurchases.map(\.originalTransactionID).filter { seen.insert($0).inserted }
  }

  /// What is in the receipt: a transaction receipt has the newest purchase alone.
  package var receiptPurchases: [SimulatedTransaction] {
    switch receiptKind {
    case .current, .sha1: purchases
    case .transaction: Array(purchases.suffix(1))
    }
  }

  /// The receipt in base64, as the app sends it.
  package func receipt(signedBy pki: ReceiptPKI) throws(CertificateError) -> [UInt8] {
    func app(_ hash: SignatureHash) throws(CertificateError) -> [UInt8] {
      try SimulatedReceipt(of: self.app, purchases: purchases, createdAt: asOf).encoded(signedBy: pki, hash: hash)
    }
    switch receiptKind {
    case .current: return try app(.sha256)
    case .sha1: return try app(.sha1)
    case .transaction:
      guard let last = purchases.last else { return [] }
      return try SimulatedTransactionReceipt(last).encoded(signedBy: pki.transactionSigner)
    }
  }

  /// One line of `truth.jsonl`: ids, purchases, and Apple's number for the subscription's status at `asOf`.
  package var truth: JSONObject {
    var object = PayloadMembers()
    object.add("customer", Int64(number))
    object.add("app", app.bundleID)
    object.add("userId", userID)
    object.add("environment", app.environment.rawValue)
    object.add("receipt", receiptKind.rawValue)
    object.add("appTransactionId", customer.appTransactionID)
    object.add("appAccountToken", customer.appAccountToken)
    object.add("originalTransactionIds", .array(originalTransactionIDs.map(JSONValue.string)))
    object.add("purchases", .array(purchases.map { .object(Self.truth(of: $0)) }))
    object.add("asOf", asOf)
    guard let subscription else {
      var truth = object.object
      truth["status"] = .null
      return truth
    }
    object.add("status", subscription.status(at: asOf))
    object.add("expiresDate", subscription.expiresDate)
    var truth = object.object
    truth["willRenew"] = .bool(subscription.renewal.willRenew)
    return truth
  }

  private static func truth(of purchase: SimulatedTransaction) -> JSONObject {
    var object = PayloadMembers()
    object.add("transactionId", purchase.transactionID)
    object.add("originalTransactionId", purchase.originalTransactionID)
    object.add("webOrderLineItemId", purchase.webOrderLineItemID)
    object.add("productId", purchase.product.id)
    object.add("type", purchase.product.kind.rawValue)
    object.add("purchaseDate", purchase.purchaseDate)
    object.add("originalPurchaseDate", purchase.originalPurchaseDate)
    object.add("expiresDate", purchase.expiresDate)
    object.add("revocationDate", purchase.revocation?.date)
    object.add("quantity", purchase.quantity)
    return object.object
  }
}

package import JSON
package import Signing
import Time

/// One purchase in every form in which a back end may meet it, in either generation.
///
/// All are made from one state of one customer, so that what differs between them is Apple's, not ours.
package struct PurchaseForms: Sendable {
  private let state: CustomerState
  private let purchase: WorldPurchase
  private let told: [WorldNotification]

  /// - Parameter told: the notifications of which the last about the purchase is shown.
  /// - Returns: nil when the customer has no such transaction.
  package init?(of transactionID: String, in state: CustomerState, told: [WorldNotification]) {
    guard let purchase = state.purchases.first(where: { $0.transaction.transactionID == transactionID }) else {
      return nil
    }
    self.state = state
    self.purchase = purchase
    self.told = told.filter { $0.transaction?.transactionID == transactionID }
  }

  /// The forms by name; what the purchase does not come in is null.
  ///
  /// `v2` has Apple's payloads, and `signed…` what carries them; `v1` has bodies; `receipts` are base64.
  package func object(signedBy signer: PayloadSigner, receiptsBy pki: ReceiptPKI) throws(CertificateError) -> JSONObject
  {
    [
      "v2": .object(try v2(signer)),
      "v1": .object(try v1(pki)),
      "receipts": .object(try receipts(pki)),
      "truth": .array(state.truth.map { .object($0) }),
    ]
  }

  private var date: Milliseconds { state.date }

  private var subscription: WorldSubscription? {
    state.subscriptions.first { $0.originalTransactionID == purchase.transaction.originalTransactionID }
  }

  private func v2(_ signer: PayloadSigner) throws(CertificateError) -> JSONObject {
    let transaction = purchase.transaction.payload(signedAt: date)
    let renewal = subscription?.renewal.payload(signedAt: date)
    let download = state.appTransaction.payload(signedAt: date)
    let draft = told.compactMap(\.v2).last
    var forms = JSONObject()
    forms["transaction"] = .object(transaction)
    forms["signedTransactionInfo"] = try signer.nested(transaction)
    forms["renewal"] = renewal.map { .object($0) } ?? .null
    if let renewal { forms["signedRenewalInfo"] = try signer.nested(renewal) }
    forms["status"] = subscription.map { .integer($0.status) } ?? .null
    forms["appTransaction"] = .object(download)
    forms["signedAppTransactionInfo"] = try signer.nested(download)
    forms["notification"] = .null
    if let draft {
      let payload = try draft.payload(signedBy: signer)
      forms["notification"] = .object(payload)
      forms["signedPayload"] = try signer.nested(payload)
    }
    return forms
  }

  private func v1(_ pki: ReceiptPKI) throws(CertificateError) -> JSONObject {
    var notifications: [JSONValue] = []
    for notification in told.last(where: { !$0.v1.isEmpty })?.v1 ?? [] {
      let receipt = try notification.latestReceipt.encoded(signedBy: pki)
      notifications.append(.object(notification.object(latestReceipt: receipt)))
    }
    var forms = JSONObject()
    forms["notifications"] = .array(notifications)
    forms["verifyReceipt"] = .object(
      try VerifyReceiptAnswer(about: state.receipt, of: state, requestedAt: date).object(signedBy: pki))
    let sent = SimulatedReceipt.Purchase(purchase)
    forms["verifyReceiptOfTransaction"] = .object(
      try TransactionReceiptAnswer(about: sent, of: state).object(signedBy: pki.transactionSigner))
    return forms
  }

  private func receipts(_ pki: ReceiptPKI) throws(CertificateError) -> JSONObject {
    let app = try state.receipt.encoded(signedBy: pki)
    let transaction = try SimulatedTransactionReceipt(SimulatedReceipt.Purchase(purchase)).encoded(
      signedBy: pki.transactionSigner)
    return [
      "app": .string(String(decoding: app, as: UTF8.self)),
      "transaction": .string(String(decoding: transaction, as: UTF8.self)),
      "rootDER": .string(String(decoding: Base64.standard.encode(pki.root.certificate.der), as: UTF8.self)),
    ]
  }
}

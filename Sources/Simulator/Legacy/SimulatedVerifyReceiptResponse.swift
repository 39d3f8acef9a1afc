package import JSON
package import Signing
package import Time

/// The verifyReceipt response for an app receipt, as Apple's since 2021.
///
/// `receipt` holds the content of the sent receipt; the current data is next to it.
package struct SimulatedVerifyReceiptResponse: Sendable {
  package var sent: SimulatedReceipt
  package var state: CustomerState
  /// The request date, the only date in it with milliseconds.
  package var requestedAt: Timestamp
  package var excludesOldTransactions: Bool
  package var era: V1Era

  package init(
    about sent: SimulatedReceipt, of state: CustomerState, requestedAt: Timestamp,
    excludingOldTransactions: Bool = false
  ) {
    self.sent = sent
    self.state = state
    self.requestedAt = requestedAt
    excludesOldTransactions = excludingOldTransactions
    era = state.era
  }

  /// The receipt that Apple signs for the response, trimmed like the response.
  package var latestReceipt: SimulatedReceipt {
    var receipt = state.receipt(with: latest)
    receipt.createdAt = sent.createdAt
    receipt.signedAt = Timestamp(requestedAt.wholeSeconds * 1_000)
    return receipt
  }

  private var latest: [SimulatedReceipt.Purchase] {
    if excludesOldTransactions { return state.newestOfEachOriginal }
    return era.ascendsByTransactionID ? state.latestByID : state.latestByEnd
  }

  /// - Parameter latestReceipt: `latestReceipt`, signed and in base64; empty leaves it out.
  package func object(latestReceipt: [UInt8]) -> JSONObject {
    var answer = PayloadMembers()
    answer.add("environment", state.app.environment == .production ? "Production" : "Sandbox")
    answer.add("receipt", .object(receipt))
    answer.add(
      "latest_receipt_info", .array(latest.map { .object(SimulatedV1Row($0, in: .latestReceiptInfo, era: era).object) })
    )
    if !latestReceipt.isEmpty { answer.add("latest_receipt", String(decoding: latestReceipt, as: UTF8.self)) }
    if !state.subscriptions.isEmpty {
      answer.add("pending_renewal_info", .array(state.legacyRenewals.map { .object($0) }))
    }
    answer.add("status", 0 as Int64)
    return answer.object
  }

  /// Creates the response with a receipt that `pki` signs now.
  package func object(signedBy pki: ReceiptPKI) throws(CertificateError) -> JSONObject {
    object(latestReceipt: try latestReceipt.encoded(signedBy: pki))
  }

  private var receipt: JSONObject {
    var receipt = PayloadMembers()
    receipt.add("receipt_type", sent.receiptType)
    receipt.add("adam_id", sent.appAppleID)
    receipt.add("app_item_id", sent.appAppleID)
    receipt.add("bundle_id", sent.bundleID)
    receipt.add("application_version", sent.applicationVersion)
    receipt.add("download_id", sent.downloadID)
    receipt.add("version_external_identifier", sent.versionExternalIdentifier)
    receipt.addLegacy("receipt_creation_date", sent.createdAt)
    receipt.addLegacy("request_date", requestedAt)
    receipt.addLegacy("original_purchase_date", sent.originalPurchaseDate)
    receipt.addLegacy("expiration_date", sent.expirationDate)
    receipt.addLegacy("preorder_date", sent.preorderDate)
    receipt.add("original_application_version", sent.originalApplicationVersion)
    receipt.add(
      "in_app", .array(sent.purchasesInOrder.map { .object(SimulatedV1Row($0, in: .inApp, era: era).object) }))
    return receipt.object
  }
}

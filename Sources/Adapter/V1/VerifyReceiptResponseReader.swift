import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

struct VerifyReceiptResponseReader {
  let answer: VerifyReceiptResponse
  let vocabulary: Vocabulary
  let receipts: ReceiptReader
  let message: Digest
  let origin: V1Context

  /// Whether `object` is such a response: a whole number as status, or rows without one, and no member of the App Store
  /// Server API.
  static func isAnswer(_ object: JSONObject) -> Bool {
    let rows = object["latest_receipt_info"] ?? object["receipt"]?.object?["in_app"]
    return (object["status"]?.looseInteger != nil || rows?.array != nil || rows?.object != nil) && object["data"] == nil
      && object["signedTransactions"] == nil
      && object["signedTransactionInfo"] == nil && object["signedRenewalInfo"] == nil
      && !OrderLookupResponse(object).isInvalidOrder
  }

  func reading() throws(MessageError) -> DecodedMessage {
    try checkStatus()
    let isFlat = answer.isFlat
    let receipt = answer.receipt
    let app = try origin.app(claimed: [receipt?.bundleID] + answer.latestTransactions.map(\.bundleID))
    let environment = try origin.environment(
      named: answer.environment, isFlat ? nil : receipt?.receiptType, app: app)
    let latest = answer.latestReceiptInfo ?? []
    let own = receipt?.inApp ?? []
    let pending = answer.pendingRenewalInfo ?? []
    try V1StatementMapping.checkCount(
      latest.count + answer.latestTransactions.count + own.count + pending.count, app: app)

    var purchases = V1PurchaseGrouping(vocabulary)
    if isFlat {
      purchases.add(answer.latestTransactions)
      purchases.add([V1TransactionRow(answer.json["receipt"])].compactMap(\.self))
    } else {
      purchases.add(latest)
      purchases.add(own)
    }
    try MessageError.checkLength(of: purchases.longID, app: app)
    let inner = EmbeddedReceipt(
      answer.latestReceipt, reader: receipts, app: app, environment: environment, isFetched: origin.trust == .apple)
    let current = isFlat ? purchases.rows.first?.original : nil
    var ended = V1StatementMapping.ended(pending, purchases.rows)
    if let current, answer.tellsOfAnEnd { ended.insert(current) }
    let asOf =
      (isFlat ? nil : receipt?.requestDate).map { min($0, origin.receivedAt) }
      ?? V1StatementMapping.latestPast(purchases.rows, [], ended: ended, receivedAt: origin.receivedAt)
    let statements = V1StatementMapping(
      vocabulary: vocabulary, message: message, app: app, environment: environment, source: .verifyReceiptAnswer,
      asOf: asOf)
    purchases.infer()

    var findings = Findings(app: app, environment: environment)
    findings.purchases = statements.purchases(purchases.rows)
    findings.furtherAliases = statements.furtherAliases(purchases.rows)
    findings.renewals = statements.renewals(
      pending, rows: purchases.rows, top: answer.json, current: current)
    let trust: MessageDecoder.Proof = inner?.isProven == true && origin.trust != .apple ? .receipt : origin.trust
    findings = try statements.completed(findings, receipt: inner, trust: trust)
    var survey = answer.survey()
    survey.add(
      unusableRows: purchases.unusable, V1StatementMapping.unmatched(pending, purchases.rows), below: "")
    return DecodedMessage(
      app: app, appAppleID: nil, environment: environment, signedAt: nil,
      title: "verifyReceipt of \(purchases.rows.count)", findings: findings, survey: survey, trust: trust)
  }

  private func checkStatus() throws(MessageError) {
    let status = answer.status ?? 0
    guard let row = vocabulary.legacyStatuses[status] else {
      throw MessageError(
        .legacy, .verifyReceiptStatus,
        "status \(status) is not one that Apple documents; keep the response and ask again",
        claimedApp: origin.app)
    }
    guard row.holdsData else {
      let isFinal = row.retry == .told && answer.isRetryable == false
      let advice = isFinal ? "is_retryable is false: ask with another receipt" : row.action
      throw MessageError(
        .legacy, .verifyReceiptStatus, "status \(status) (\(row.id)): \(row.meaning); \(advice)",
        claimedApp: origin.app)
    }
    guard answer.json["receipt"]?.object != nil || !answer.latestTransactions.isEmpty || answer.latestReceiptInfo != nil
    else {
      throw MessageError(
        .legacy, .verifyReceiptStatus, "status \(status), but neither a receipt nor a purchase is there",
        claimedApp: origin.app)
    }
  }
}

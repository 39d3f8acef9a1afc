import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// Reads a V1 notification: a statement for every row and renewal, and the events of its body.
struct V1NotificationReader {
  /// The largest number of unsigned rows and renewals of a body that counts as Apple's.
  ///
  /// Apple puts the latest 100 transactions into `unified_receipt.latest_receipt_info`, and one element for each
  /// subscription into `pending_renewal_info` (Apple's page "unified_receipt"; the largest known body has 54 rows and
  /// one renewal). The rest is for customers with many subscriptions.
  static let mostRows = 300

  let body: V1NotificationBody
  let vocabulary: Vocabulary
  let receipts: ReceiptReader
  let message: Digest
  let origin: V1Context

  func reading() throws(MessageError) -> DecodedMessage {
    let unified = body.unifiedReceipt
    let flat = body.latestReceiptInfo + body.latestExpiredReceiptInfo
    let list = unified?.latestReceiptInfo ?? []
    let pending = unified?.pendingRenewalInfo ?? []
    let app = try origin.app(claimed: [body.bundleID] + flat.map(\.bundleID))
    let environment = try origin.environment(named: body.environment, unified?.environment, app: app)
    try V1StatementMapping.checkCount(flat.count + list.count + pending.count, app: app)

    var purchases = V1PurchaseGrouping(vocabulary)
    purchases.add(list)
    purchases.add(flat)
    try MessageError.checkLength(of: purchases.longID, app: app)
    cancel(in: &purchases)
    let target = target(purchases.rows)
    let original = original(purchases.rows, pending, target)
    let receipt = EmbeddedReceipt(
      unified?.latestReceipt ?? body.latestReceipt, reader: receipts, app: app, environment: environment,
      isFetched: origin.trust == .apple)
    var ended = V1StatementMapping.ended(pending, purchases.rows)
    if let original, tellsOfAnEnd { ended.insert(original) }
    let asOf =
      receipt?.createdAt.map { min($0, origin.receivedAt) }
      ?? V1StatementMapping.latestPast(
        purchases.rows, [body.cancellationDate, body.autoRenewStatusChangeDate], ended: ended,
        receivedAt: origin.receivedAt)
    let statements = V1StatementMapping(
      vocabulary: vocabulary, message: message, app: app, environment: environment, source: .notificationV1,
      asOf: asOf)

    let subscription = V1SubscriptionState(
      body: body, asOf: asOf, rows: purchases.rows.filter { $0.original == original },
      renewal: zip(pending, V1StatementMapping.originals(of: pending, purchases.rows)).first { $1 == original }?.0,
      target: target)
    purchases.infer()

    var findings = Findings(app: app, environment: environment)
    findings.purchases = statements.purchases(purchases.rows)
    findings.furtherAliases = statements.furtherAliases(purchases.rows)
    findings.renewals = statements.renewals(pending, rows: purchases.rows, top: body.json, current: original)
    findings.events = events(subscription, original, asked(purchases.rows), statements)
    let trust: MessageDecoder.Proof = receipt?.isProven == true && origin.trust != .apple ? .receipt : origin.trust
    findings = try statements.completed(findings, receipt: receipt, trust: trust)
    var survey = body.survey()
    survey.add(
      unusableRows: purchases.unusable, V1StatementMapping.unmatched(pending, purchases.rows), below: "unified_receipt."
    )
    let namesPurchase =
      !findings.originalTransactionIDs.isEmpty || findings.events.contains { $0.originalTransactionID != nil }
    guard namesPurchase else {
      throw MessageError(
        .legacy, .missingIdentity, "no purchase in it can be read, and it names no id by which Apple could be asked",
        claimedApp: app)
    }
    return DecodedMessage(
      app: app, appAppleID: nil, environment: environment, signedAt: nil,
      title: body.notificationType.map { "V1 \($0)" } ?? "V1 notification without type", findings: findings,
      survey: survey, trust: trust)
  }

  /// CANCEL names its row and its date at the top: the row may lack the date, or be missing.
  private func cancel(in purchases: inout V1PurchaseGrouping) {
    guard body.notificationType == "CANCEL", let date = body.cancellationDate else { return }
    if let row = cancelledRow(purchases.rows) { return purchases.cancel(row, at: date) }
    guard let line = V1Purchase.identity(body.webOrderLineItemID) else { return }
    let originals = Set(purchases.rows.filter(\.isSubscription).map(\.original))
    let only = originals.count == 1 ? originals.first : nil
    if let original = V1Purchase.identity(body.originalTransactionID) ?? only {
      purchases.add(V1Purchase(original: original, line: line, cancelledAt: date))
    }
  }

  /// Returns the row that CANCEL names, otherwise the one of its date, otherwise the only candidate.
  private func cancelledRow(_ rows: [V1Purchase]) -> V1Purchase? {
    let named = V1Purchase.identity(body.originalTransactionID)
    let only = rows.count == 1 && rows[0].original == named ?? rows[0].original ? rows[0] : nil
    if let line = V1Purchase.identity(body.webOrderLineItemID) {
      return rows.first { $0.line.text == line } ?? (only?.facts.text(.webOrderLineItemId) == nil ? only : nil)
    }
    if let cancelled = rows.first(where: { $0.cancelledAt == body.cancellationDate }) { return cancelled }
    // A purchase at the time of the other's revocation replaced it.
    guard let only, only.cancelledAt == nil else { return nil }
    if let bought = only.facts.date(.purchaseDate), let date = body.cancellationDate, bought >= date { return nil }
    return only
  }

  private var tellsOfAnEnd: Bool {
    body.notificationType == "DID_FAIL_TO_RENEW" || body.expirationIntent != nil
      || !body.latestExpiredReceiptInfo.isEmpty
  }

  /// Returns the revoked row.
  ///
  /// If CANCEL names a row or a date, no other row counts, because an earlier message may have reported its revocation.
  /// Otherwise it is the row cancelled last, of the named purchase or of all.
  private func target(_ rows: [V1Purchase]) -> V1Purchase? {
    let cancelled = rows.filter { $0.cancelledAt != nil }
    let named = V1Purchase.identity(body.originalTransactionID)
    switch body.notificationType {
    case "CANCEL":
      if body.webOrderLineItemID != nil || body.cancellationDate != nil { return cancelledRow(rows) }
      return lastCancelled(cancelled.filter { $0.original == named ?? $0.original })
    case "REFUND", "REVOKE":
      return lastCancelled(cancelled.filter { !$0.isUpgraded && $0.original == named ?? $0.original })
    default: return nil
    }
  }

  private func lastCancelled(_ rows: [V1Purchase]) -> V1Purchase? {
    rows.max {
      ($0.cancelledAt ?? .beforeAll, $0.original, $0.line) < ($1.cancelledAt ?? .beforeAll, $1.original, $1.line)
    }
  }

  /// Returns the body's subscription: the named one, otherwise the revoked one, otherwise the newest one of the named
  /// product.
  private func original(_ rows: [V1Purchase], _ pending: [PendingRenewalInfo], _ target: V1Purchase?) -> String? {
    if let target { return target.original }
    if let named = V1Purchase.identity(body.originalTransactionID) { return named }
    let product = body.autoRenewProductID
    let ofProduct = pending.filter { product != nil && ($0.autoRenewProductID == product || $0.productID == product) }
    let renewed = Set(V1StatementMapping.originals(of: ofProduct, rows).compactMap(\.self))
    let byRenewal = rows.filter { renewed.contains($0.original) }
    let byProduct = rows.filter { product != nil && $0.productID == product }
    let candidates = byRenewal.isEmpty ? byProduct.isEmpty ? rows : byProduct : byRenewal
    return candidates.max { $0.purchaseOrder < $1.purchaseOrder }?.original
      ?? (renewed.count == 1 ? renewed.first : nil)
  }

  /// Returns the purchase of a consumption request: the one that the body names, otherwise its only one.
  ///
  /// Never the last, because the customer may have bought since. No documentation shows such a body.
  private func asked(_ rows: [V1Purchase]) -> V1Purchase? {
    let original = V1Purchase.identity(body.originalTransactionID)
    let line = V1Purchase.identity(body.webOrderLineItemID)
    let meant = rows.filter { ($0.original == original ?? $0.original) && ($0.line.text == line ?? $0.line.text) }
    return meant.count == 1 ? meant.first : nil
  }

  private func events(
    _ subscription: V1SubscriptionState, _ original: String?, _ asked: V1Purchase?, _ statements: V1StatementMapping
  ) -> [Event] {
    let events = V1EventMapping(table: vocabulary.legacyEvents, subscription: subscription, original: original)
    let mapped = events.mappedEvents
    guard !mapped.isEmpty else { return [] }
    let details = events.details
    return mapped.map { event in
      let subject = event.notificationType == "CONSUMPTION_REQUEST" ? asked : event.subject
      return Event(
        app: statements.app, environment: statements.environment, notificationUUID: nil,
        notificationType: event.notificationType, subtype: event.subtype,
        originalTransactionID: subject?.original ?? original,
        transactionID: subject?.facts.text(.transactionId), line: subject?.line,
        date: event.date, source: .notificationV1, rank: statements.rank, details: details,
        message: message.bytes, rule: event.rule)
    }
  }
}

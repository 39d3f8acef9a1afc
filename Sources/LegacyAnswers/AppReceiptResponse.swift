import JSON
import Mappings
import Purchases
import Receipts
import Time

/// The answer about an app receipt.
struct AppReceiptResponse {
  let request: ComposerRequest
  let receipt: AppReceipt
  let facts: CustomerFacts
  let era: ResponseSchema

  private var readings: RuleOptions { era.readings }

  func bytes(_ trace: ResponseTrace?) -> [UInt8] {
    let latest = LatestReceiptInfoRows(receipt, facts, readings, excludesOld: request.excludesOldTransactions).rows
    let capacity =
      2_048 + request.receiptData.utf8.count + 1_100 * (latest.count + receipt.purchases.count)
      + 400 * facts.renewals.count
    var writer = ResponseWriter(capacity: capacity, cutsToSeconds: readings.cutsToSeconds, trace: trace)
    writer.begin()
    let statusIsFirst = readings.reads(.statusPlace, .first)
    if statusIsFirst { status(&writer) }
    if let plan = era.top("environment") { writer.text(plan, request.environment.rawValue, .composed) }
    writer.object("receipt") { writer in receiptObject(&writer) }
    if request.tellsSubscriptions { tail(latest, &writer) }
    if !statusIsFirst { status(&writer) }
    writer.end()
    return writer.bytes
  }

  private func status(_ writer: inout ResponseWriter) {
    if let plan = era.top("status") { writer.number(plan, 0, .composed) }
  }

  // MARK: The receipt

  private func receiptObject(_ writer: inout ResponseWriter) {
    for plan in era.receipt {
      switch plan.form {
      case .requested: writer.date(plan, request.date, .composed, isExact: true)
      case .creation:
        let isSigningDate = readings.reads(.creationDate, .attribute12)
        if let date = isSigningDate ? receipt.createdAt : receipt.transactionDate ?? receipt.createdAt {
          writer.date(plan, date, .receipt)
        }
      case .date:
        if let date = plan.attribute.flatMap(receipt.value(ofAttribute:))?.milliseconds {
          writer.date(plan, date, .receipt)
        }
      default:
        if let value = plan.attribute.flatMap(receipt.value(ofAttribute:)) { writer.value(plan, (value, .receipt)) }
      }
    }
    let refunds = readings.refundShowsInApp ? refundsByLine : [:]
    writer.array("in_app", receipt.purchases.count) { writer, place in
      var source = RowSource(posted: receipt.purchases[place])
      if let line = receipt.purchases[place].webOrderLineItemID, let refunded = refunds[line] {
        source.posted?.noteCancellation(
          at: refunded.date(.revocationDate), reason: refunded.integer(.revocationReason))
      }
      writer.row(era.inApp, source, readings)
    }
    if receipt.purchases.isEmpty { writer.noteEmpty("in_app", rule: readings.id(.inAppOrder)) }
  }

  /// What was refunded, by line: for rule refundInApp alone.
  private var refundsByLine: [Int64: Facts<PurchaseField>] {
    let refunded = facts.transactions.filter { $0.facts[.revocationDate] != nil }
    let pairs = refunded.compactMap { transaction in
      transaction.facts.text(.webOrderLineItemId).flatMap { Int64($0) }.map { ($0, transaction.facts) }
    }
    return Dictionary(pairs) { first, _ in first }
  }

  // MARK: What is known beside it

  private func tail(_ latest: [LatestReceiptInfoRow], _ writer: inout ResponseWriter) {
    if facts.isForgotten, readings.reads(.forgotten, .receiptAlone) { return latestReceipt(&writer) }
    let isThere =
      if readings.reads(.latestPresence, .always) {
        true
      } else if readings.reads(.latestPresence, .withAnyRow) {
        !latest.isEmpty
      } else {
        latest.contains { $0.kind == .subscription }
      }
    if isThere {
      let groups = groups(of: latest)
      writer.array("latest_receipt_info", latest.count) { writer, place in
        let row = latest[place]
        let transaction = row.signed.map { facts.transactions[$0] }
        let source = RowSource(
          signed: transaction?.facts, answered: transaction?.answered,
          posted: row.posted.map { receipt.purchases[$0] },
          group: row.kind == .subscription ? groups[row.originalID] : nil)
        writer.row(era.latest, source, readings)
      }
      if latest.isEmpty { writer.noteEmpty("latest_receipt_info", rule: readings.id(.latestPresence)) }
      latestReceipt(&writer)
    }
    if readings.reads(.pendingPresence, .withSubscription), !facts.renewals.isEmpty { pending(latest, &writer) }
  }

  private func latestReceipt(_ writer: inout ResponseWriter) {
    guard let plan = era.top("latest_receipt") else { return }
    writer.text(plan, request.receiptData, .echoed)
  }

  /// The group of each originalTransactionId, where a row does not say it itself.
  private func groups(of latest: [LatestReceiptInfoRow]) -> [String: String] {
    func group(_ row: LatestReceiptInfoRow) -> String? {
      row.signed.flatMap { facts.transactions[$0].facts.text(.subscriptionGroupIdentifier) }
    }
    guard latest.contains(where: { $0.kind == .subscription && group($0) == nil }) else { return [:] }
    var groups: [String: String] = [:]
    for transaction in facts.transactions {
      guard let original = transaction.facts.text(.originalTransactionId),
        let group = transaction.facts.text(.subscriptionGroupIdentifier)
      else { continue }
      groups[original] = group
    }
    return groups
  }

  /// When the newest period of each originalTransactionId began.
  private var periodsBegan: [String: Timestamp] {
    var began: [String: Timestamp] = [:]
    for place in facts.transactions.indices {
      let transaction = facts.transactions[place].facts
      guard let original = transaction.text(.originalTransactionId), let date = transaction.date(.purchaseDate) else {
        continue
      }
      if date > began[original] ?? Timestamp(.min) { began[original] = date }
    }
    return began
  }

  private func pending(_ latest: [LatestReceiptInfoRow], _ writer: inout ResponseWriter) {
    let began = periodsBegan
    let states = facts.renewals.compactMap { renewal -> RenewalState? in
      let original = renewal.facts.text(.originalTransactionId)
      let state = RenewalState(renewal, periodBegan: original.flatMap { began[$0] }, now: request.date)
      return state.isCancelledInGrace && readings.reads(.graceCancelled, .elementGoes) ? nil : state
    }
    writer.array("pending_renewal_info", states.count) { writer, place in
      writer.renewal(era.pending, states[place], readings)
    }
    if states.isEmpty { writer.noteEmpty("pending_renewal_info", rule: readings.id(.graceCancelled)) }
  }
}

import JSON
import Mappings
import Purchases
import Receipts
import Time

/// The answer about an iOS 6 receipt: flat objects, and status 21006 when the subscription has ended.
struct TransactionReceiptResponse {
  let request: ComposerRequest
  let receipt: TransactionReceipt
  let facts: CustomerFacts
  let era: ResponseSchema

  private var readings: RuleOptions { era.readings }

  func bytes(_ trace: ResponseTrace?) -> [UInt8] {
    var writer = ResponseWriter(
      capacity: 6_144 + request.receiptData.utf8.count, cutsToSeconds: readings.cutsToSeconds, trace: trace)
    let latest = request.tellsSubscriptions ? latest : nil
    let state = state(of: latest)
    let hasEnded = latest.map { isOver($0, state) } ?? false
    writer.begin()
    if latest != nil, let state {
      let plans = era.flatAnswer.filter { $0.presence != (hasEnded ? .active : .ended) }
      writer.renewal(plans, state, readings)
    }
    writer.object("receipt") { writer in
      for pair in receipt.signedPairs {
        writer.pair(pair.key.replacing("-", with: "_"), pair.value, rule: readings.id(.flatReceipt))
      }
    }
    if let latest {
      writer.object(hasEnded ? "latest_expired_receipt_info" : "latest_receipt_info") { writer in
        writer.row(era.flat, latest, readings)
      }
      if !hasEnded, let plan = era.top("latest_receipt") {
        writer.text(plan, request.receiptData, .echoed)
      }
    }
    if let plan = era.top("status") { writer.number(plan, hasEnded ? 21_006 : 0, .composed) }
    writer.end()
    return writer.bytes
  }

  /// The newest period of the subscription that was sent, which may be the sent one; nil for anything else.
  ///
  /// The sent one also where it began after all that is known: Apple signed it too.
  private var latest: RowSource? {
    let original = receipt.originalIdentity
    let periods = facts.transactions.filter {
      $0.facts.text(.originalTransactionId) == original && $0.facts.date(.expiresDate) != nil
        && $0.facts.flag(.isUpgraded) != true
    }
    func bought(_ transaction: CustomerFacts.Transaction) -> Timestamp {
      transaction.facts.date(.purchaseDate) ?? Timestamp(.min)
    }
    let known = periods.max { bought($0) < bought($1) }
    let isSentNewer = known.map { isSent(after: bought($0)) } ?? false
    let newest = isSentNewer ? nil : known
    guard newest != nil || receipt.expiresDate != nil else { return nil }
    return RowSource(
      signed: newest?.facts, answered: newest?.answered, transaction: receipt,
      group: periods.lazy.compactMap { $0.facts.text(.subscriptionGroupIdentifier) }.first, itemIDs: facts.itemIDs)
  }

  /// Whether the sent period began after `date`, and none that is known is the sent one.
  private func isSent(after date: Timestamp) -> Bool {
    guard let began = receipt.purchaseDate, receipt.expiresDate != nil, began.wholeSeconds > date.wholeSeconds else {
      return false
    }
    return !facts.transactions.contains {
      $0.facts.text(.transactionId) == receipt.transactionID
        || ($0.facts.text(.webOrderLineItemId) == receipt.webOrderLineItemID && receipt.webOrderLineItemID != nil)
    }
  }

  private func state(of latest: RowSource?) -> RenewalState? {
    guard let latest else { return nil }
    let renewal = facts.renewals.first { $0.facts.text(.originalTransactionId) == receipt.originalIdentity }
    return renewal.map {
      RenewalState($0, periodBegan: latest.signed?.date(.purchaseDate) ?? receipt.purchaseDate, now: request.date)
    }
  }

  private func isOver(_ latest: RowSource, _ state: RenewalState?) -> Bool {
    if latest.signed?[.revocationDate] != nil, readings.reads(.flatRefund, .ended) { return true }
    guard let end = latest.signed?.date(.expiresDate) ?? receipt.expiresDate, end <= request.date else { return false }
    let isInGrace = state?.graceEnds.map { $0 > request.date } ?? false
    return !(isInGrace && readings.reads(.flatGrace, .active))
  }
}

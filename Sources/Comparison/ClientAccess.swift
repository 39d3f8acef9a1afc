import JSON
import Time
import Wire

/// What a client takes from an answer that looks at nothing but dates: which product it gives access to, and until when.
///
/// A row counts unless it was cancelled or upgraded; a subscription until its last expiry, or until the end of its grace
/// period; anything without an expiry for ever. An answer that is an error gives nothing.
struct ClientAccess {
  struct Grant: Hashable {
    let originalTransactionID: String
    let productID: String
  }

  struct Holding: Equatable {
    /// Whole seconds; for ever at the largest date.
    var until: Timestamp
    /// How much was bought of what does not expire.
    var quantity: Int64
  }

  private(set) var held: [Grant: Holding] = [:]

  init(_ answer: JSONObject) {
    let answer = VerifyReceiptResponse(answer)
    guard answer.status == 0 else { return }
    if answer.isFlat {
      let row = answer.latestTransactions.first ?? answer.receipt.map { V1TransactionRow($0.json) }
      if let row, answer.json["latest_expired_receipt_info"] == nil { add(row) }
      return
    }
    let latest = answer.latestReceiptInfo ?? []
    // A newer word on the same purchase counts, also where it takes the purchase back.
    let told = Set(latest.map(Self.name))
    for row in latest { add(row) }
    for row in answer.receipt?.inApp ?? [] where !told.contains(Self.name(row)) { add(row) }
    for renewal in answer.pendingRenewalInfo ?? [] {
      guard let grace = renewal.gracePeriodExpiresDate, let id = renewal.originalTransactionID else { continue }
      for grant in held.keys where grant.originalTransactionID == id {
        guard renewal.productID == nil || renewal.productID == grant.productID else { continue }
        let end = held[grant]?.until ?? grace
        held[grant]?.until = max(end, grace.cutToSecond)
      }
    }
  }

  /// What a client has that reads the first row of `latest_receipt_info` alone: its product, and until when; nil where there
  /// is no such row, or none with an end.
  static func first(of answer: JSONObject) -> (grant: Grant, until: Timestamp)? {
    let answer = VerifyReceiptResponse(answer)
    guard answer.status == 0, !answer.isFlat, let row = answer.latestReceiptInfo?.first, let end = row.expiresDate,
      let original = row.originalTransactionID ?? row.transactionID
    else { return nil }
    let isDead = row.cancellationDate != nil || row.isUpgraded == true
    return (
      Grant(originalTransactionID: original, productID: row.productID ?? ""),
      isDead ? Timestamp(.min) : end.cutToSecond
    )
  }

  private static func name(_ row: V1TransactionRow) -> String {
    if let line = row.webOrderLineItemID { return "line \(line)" }
    let original = row.originalTransactionID ?? row.transactionID ?? ""
    let period = row.expiresDate == nil ? nil : row.purchaseDate
    return "\(original) \(period?.wholeSeconds ?? 0)"
  }

  private mutating func add(_ row: V1TransactionRow) {
    guard row.cancellationDate == nil, row.isUpgraded != true,
      let original = row.originalTransactionID ?? row.transactionID
    else { return }
    let grant = Grant(originalTransactionID: original, productID: row.productID ?? "")
    if let end = row.expiresDate?.cutToSecond {
      held[grant] = Holding(until: max(held[grant]?.until ?? end, end), quantity: 0)
    } else {
      held[grant] = Holding(until: Timestamp(.max), quantity: row.quantity ?? 1)
    }
  }
}

extension Timestamp {
  /// Answers have whole seconds.
  var cutToSecond: Timestamp { Timestamp(wholeSeconds * 1_000) }
}

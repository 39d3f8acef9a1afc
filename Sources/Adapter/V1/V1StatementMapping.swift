import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// Maps the rows and renewals of V1 bodies and responses to statements of one source and date.
struct V1StatementMapping {
  let vocabulary: Vocabulary
  let message: Digest
  let app: String
  let environment: Environment
  let source: Source
  let asOf: Timestamp

  /// The rank of a body, whose digest decides between two of one date.
  var rank: Rank { Rank(asOf: asOf, tieBreak: Array(message.bytes.prefix(16))) }

  func key(_ purchase: V1Purchase) -> PurchaseKey {
    PurchaseKey(
      app: app, environment: environment, originalTransactionID: purchase.original, line: purchase.line)
  }

  func purchases(_ rows: [V1Purchase]) -> [PurchaseStatement] {
    let rank = rank
    return rows.map { row in
      PurchaseStatement(key: key(row), source: source, rank: rank, facts: row.facts, message: message.bytes)
    }
  }

  func furtherAliases(_ rows: [V1Purchase]) -> [Alias] {
    rows.flatMap { row in
      row.furtherTransactionIDs.map { Alias(transactionID: $0, of: key(row), asOf: asOf) }
    }
  }

  /// Returns one statement for each subscription with a renewal; `top` applies to `current` without an element.
  func renewals(
    _ elements: [PendingRenewalInfo], rows: [V1Purchase], top: JSONObject, current: String?
  ) -> [RenewalStatement] {
    var reader = V1FactMapping<RenewalField>(vocabulary)
    var statements: [RenewalStatement] = []
    func add(_ original: String, _ facts: Facts<RenewalField>) {
      var facts = facts
      facts.set(.originalTransactionId, .string(original))
      let key = SubscriptionKey(app: app, environment: environment, originalTransactionID: original)
      statements.append(
        RenewalStatement(key: key, source: source, rank: rank, facts: facts, message: message.bytes))
    }
    for (element, original) in zip(elements, Self.originals(of: elements, rows)) {
      if let original { add(original, reader.facts(element.json)) }
    }
    if let current, !statements.contains(where: { $0.key.originalTransactionID == current }) {
      let facts = reader.factsOfTop(top)
      if !facts.known.isEmpty { add(current, facts) }
    }
    return statements
  }

  /// Returns the subscription of each element, as it names it; before 2018 it is the only one with rows of its product.
  ///
  /// Scans the rows once, because a body of the largest size has thousands of both.
  static func originals(of elements: [PendingRenewalInfo], _ rows: [V1Purchase]) -> [String?] {
    let named = elements.map { V1Purchase.identity($0.originalTransactionID) }
    guard named.contains(nil) else { return named }
    var candidates: [String?: Set<String>] = [:]
    for row in rows where row.isSubscription { candidates[row.productID, default: []].insert(row.original) }
    return zip(elements, named).map { element, named in
      if let named { return named }
      guard let found = candidates[element.productID], found.count == 1 else { return nil }
      return found.first
    }
  }

  static func unmatched(_ elements: [PendingRenewalInfo], _ rows: [V1Purchase]) -> Int {
    originals(of: elements, rows).count { $0 == nil }
  }

  /// Adds a proven receipt's statements, its links, and the seeds; no value is longer than Apple's.
  ///
  /// Statements with an unproven environment are claims like the body, so that a lookup at Apple confirms them. Other
  /// content of the body is linked if Apple returned it, and otherwise claimed.
  func completed(
    _ findings: Findings, receipt: EmbeddedReceipt?, trust: MessageDecoder.Proof
  ) throws(MessageError) -> Findings {
    var findings = findings
    if let proven = receipt?.findings(vocabulary, message: message) {
      findings.purchases += proven.purchases
      findings.links += proven.links
    }
    if let claimed = receipt?.claims(vocabulary, as: source, receivedAt: asOf, message: message) {
      // The body's own rows have more data about the purchases that it lists.
      let listed = Set(findings.originalTransactionIDs)
      findings.purchases += claimed.purchases.filter { !listed.contains($0.key.originalTransactionID) }
    }
    if trust.joinsCustomers {
      findings.isFetched = true
      findings.links = []
      findings.linkCustomers()
    } else {
      findings.claimLinks()
    }
    findings.noteSeeds(userID: nil)
    try MessageError.checkLengths(findings)
    return findings
  }

  /// Returns the subscriptions that a renewal marks as ended, or as failed to charge again.
  static func ended(_ elements: [PendingRenewalInfo], _ rows: [V1Purchase]) -> Set<String> {
    let ended = elements.filter {
      $0.expirationIntent != nil || $0.isInBillingRetryPeriod == true || $0.gracePeriodExpiresDate != nil
    }
    return Set(originals(of: ended, rows).compactMap(\.self))
  }

  /// Returns the greatest date of `rows` and `others` not later than `receivedAt`, which applies without such a date.
  ///
  /// A period's end counts only for the originalTransactionIds in `ended`. Any other end was in the future at that
  /// time, even if the body arrives late, and would rank it after later statements.
  static func latestPast(
    _ rows: [V1Purchase], _ others: [Timestamp?], ended: Set<String>, receivedAt: Timestamp
  ) -> Timestamp {
    var latest: Timestamp?
    func take(_ date: Timestamp?) {
      if let date, date <= receivedAt, date > latest ?? .beforeAll { latest = date }
    }
    for row in rows {
      take(row.purchasedAt)
      take(row.facts.date(.originalPurchaseDate))
      if row.cancelledAt == nil, ended.contains(row.original) { take(row.endsAt) }
      take(row.cancelledAt)
    }
    for date in others { take(date) }
    return latest ?? receivedAt
  }

  /// A number above any customer's purchases; a body of the largest size has about 10,000.
  static let rowLimit = 20_000

  static func checkCount(_ count: Int, app: String) throws(MessageError) {
    guard count > rowLimit else { return }
    throw MessageError(.legacy, .tooManyRows, "\(count) rows, at most \(rowLimit) are taken", claimedApp: app)
  }
}

extension Findings {
  /// Records each originalTransactionId once as a seed for lookups.
  mutating func noteSeeds(userID: String?) {
    let known = seeds.map { seed in
      TransactionReference(
        app: seed.app, environment: seed.environment, transactionID: seed.transactionID,
        userID: userID ?? seed.userID, isSigned: seed.isSigned)
    }
    let ids = Set(known.map(\.transactionID))
    seeds =
      known
      + originalTransactionIDs.filter { !ids.contains($0) }.map {
        TransactionReference(app: app, environment: environment, transactionID: $0, userID: userID)
      }
  }
}

extension UndocumentedContent {
  /// Counts rows without an ID, and renewals without an identifiable subscription.
  mutating func add(unusableRows rows: Int, _ renewals: Int, below path: String) {
    for _ in 0..<rows { add(unusable: path + "latest_receipt_info[].transaction_id") }
    for _ in 0..<renewals { add(unusable: path + "pending_renewal_info[].original_transaction_id") }
  }
}

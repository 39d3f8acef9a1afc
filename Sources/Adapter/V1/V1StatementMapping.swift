import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// What is common to V1 bodies and answers: rows and renewals become statements of one source and one time.
struct V1StatementMapping {
  let vocabulary: Vocabulary
  let message: Digest
  let app: String
  let environment: Environment
  let source: Source
  let asOf: Timestamp

  /// A body is one saying: its own digest decides between two of one time.
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

  /// One statement for each subscription that has a renewal; `top` speaks of `current` where no element does.
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

  /// Of which subscription each element speaks, as it says; before 2018 it does not, and the one subscription with rows of its
  /// product is meant.
  ///
  /// The rows are looked through once: a body of the largest size has thousands of both.
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

  /// How many elements speak of a subscription that nothing tells.
  static func unmatched(_ elements: [PendingRenewalInfo], _ rows: [V1Purchase]) -> Int {
    originals(of: elements, rows).count { $0 == nil }
  }

  /// Adds what a proven receipt states, the links that it makes, and the seeds; nothing longer than Apple's.
  ///
  /// What a receipt says whose environment is not proven is as claimed as the body, so that Apple is asked to confirm it.
  /// What the body lists beside the receipt is linked if Apple gave us the body, and else claimed to be.
  func completed(
    _ findings: Findings, receipt: EmbeddedReceipt?, trust: MessageDecoder.Proof
  ) throws(MessageError) -> Findings {
    var findings = findings
    if let proven = receipt?.findings(vocabulary, message: message) {
      findings.purchases += proven.purchases
      findings.links += proven.links
    }
    if let claimed = receipt?.claims(vocabulary, as: source, receivedAt: asOf, message: message) {
      // The body's own rows say more of those that it lists.
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

  /// The subscriptions that a renewal says are over, or could not be charged for again.
  static func ended(_ elements: [PendingRenewalInfo], _ rows: [V1Purchase]) -> Set<String> {
    let ended = elements.filter {
      $0.expirationIntent != nil || $0.isInBillingRetryPeriod == true || $0.gracePeriodExpiresDate != nil
    }
    return Set(originals(of: ended, rows).compactMap(\.self))
  }

  /// The greatest date of `rows` and of `others` that is not later than `receivedAt`, which stands in for none.
  ///
  /// The end of a period counts below the originalTransactionIds `ended` alone: any other was still to come when this was
  /// said, however late it arrives, and would put it after what was said in between.
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

  /// More than any customer has bought; a body of the largest size has about 10,000.
  static let rowLimit = 20_000

  static func checkCount(_ count: Int, app: String) throws(MessageError) {
    guard count > rowLimit else { return }
    throw MessageError(.legacy, .tooManyRows, "\(count) rows, at most \(rowLimit) are taken", claimedApp: app)
  }
}

extension Findings {
  /// Notes each originalTransactionId, once, as one by which history can be asked.
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
  /// Counts rows without an id, and renewals of which nothing tells whose they are.
  mutating func add(unusableRows rows: Int, _ renewals: Int, below path: String) {
    for _ in 0..<rows { add(unusable: path + "latest_receipt_info[].transaction_id") }
    for _ in 0..<renewals { add(unusable: path + "pending_renewal_info[].original_transaction_id") }
  }
}

import JSON
import Mappings
import Purchases
import Receipts
import Signing
import Time
import Wire

/// What is common to V1 bodies and answers: rows and renewals become statements of one source and one time.
struct LegacyStatements {
  let vocabulary: Vocabulary
  let message: Digest
  let app: String
  let environment: Environment
  let source: Source
  let asOf: Milliseconds

  /// A body is one saying: its own digest decides between two of one time.
  var rank: Rank { Rank(asOf: asOf, tieBreak: Array(message.bytes.prefix(16))) }

  func key(_ purchase: LegacyPurchase) -> PurchaseKey {
    PurchaseKey(
      app: app, environment: environment, originalTransactionID: purchase.original, line: purchase.line)
  }

  func purchases(_ rows: [LegacyPurchase]) -> [PurchaseStatement] {
    let rank = rank
    return rows.map { row in
      PurchaseStatement(key: key(row), source: source, rank: rank, facts: row.facts, message: message.bytes)
    }
  }

  func furtherAliases(_ rows: [LegacyPurchase]) -> [Alias] {
    rows.flatMap { row in
      row.furtherTransactionIDs.map { Alias(transactionID: $0, of: key(row), asOf: asOf) }
    }
  }

  /// One statement for each subscription that has a renewal; `top` speaks of `current` where no element does.
  func renewals(
    _ elements: [PendingRenewal], rows: [LegacyPurchase], top: JSONObject, current: String?
  ) -> [RenewalStatement] {
    var reader = LegacyFacts<RenewalField>(vocabulary)
    var statements: [RenewalStatement] = []
    func add(_ original: String, _ facts: Facts<RenewalField>) {
      var facts = facts
      facts.set(.originalTransactionId, .string(original))
      let key = SubscriptionKey(app: app, environment: environment, originalTransactionID: original)
      statements.append(
        RenewalStatement(key: key, source: source, rank: rank, facts: facts, message: message.bytes))
    }
    for element in elements {
      if let original = Self.original(of: element, rows) { add(original, reader.facts(element.json)) }
    }
    if let current, !statements.contains(where: { $0.key.originalTransactionID == current }) {
      let facts = reader.factsOfTop(top)
      if !facts.known.isEmpty { add(current, facts) }
    }
    return statements
  }

  /// As it says; before 2018 it does not, and the one subscription with rows of its product is meant.
  static func original(of element: PendingRenewal, _ rows: [LegacyPurchase]) -> String? {
    if let named = LegacyPurchase.identity(element.originalTransactionID) { return named }
    let candidates = Set(rows.filter { $0.isSubscription && $0.productID == element.productID }.map(\.original))
    return candidates.count == 1 ? candidates.first : nil
  }

  /// Adds what a proven receipt states, the links that it makes, and the seeds; nothing longer than Apple's.
  ///
  /// What the body lists beside the receipt is linked if Apple gave us the body, and else claimed to be.
  func completed(
    _ findings: Findings, receipt: InnerReceipt?, trust: Adapter.Trust
  ) throws(Refusal) -> Findings {
    var findings = findings
    if let proven = receipt?.findings(vocabulary, message: message) {
      findings.purchases += proven.purchases
      findings.links += proven.links
    }
    if trust.joinsCustomers {
      findings.isFetched = true
      findings.links = []
      findings.linkCustomers()
    } else {
      findings.claimLinks()
    }
    findings.noteSeeds(userID: nil)
    try Refusal.checkLengths(findings)
    return findings
  }

  /// The subscriptions that a renewal says are over, or could not be charged for again.
  static func ended(_ elements: [PendingRenewal], _ rows: [LegacyPurchase]) -> Set<String> {
    Set(
      elements.filter {
        $0.expirationIntent != nil || $0.isInBillingRetryPeriod == true || $0.gracePeriodExpiresDate != nil
      }.compactMap { original(of: $0, rows) })
  }

  /// The greatest date of `rows` and of `others` that is not later than `receivedAt`, which stands in for none.
  ///
  /// The end of a period counts below the originalTransactionIds `ended` alone: any other was still to come when this was
  /// said, however late it arrives, and would put it after what was said in between.
  static func latestPast(
    _ rows: [LegacyPurchase], _ others: [Milliseconds?], ended: Set<String>, receivedAt: Milliseconds
  ) -> Milliseconds {
    var latest: Milliseconds?
    func take(_ date: Milliseconds?) {
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

  static func checkCount(_ count: Int, app: String) throws(Refusal) {
    guard count > rowLimit else { return }
    throw Refusal(.legacy, .tooManyRows, "\(count) rows, at most \(rowLimit) are taken", claimedApp: app)
  }
}

extension Findings {
  /// Notes each originalTransactionId, once, as one by which history can be asked.
  mutating func noteSeeds(userID: String?) {
    let known = seeds.map { seed in
      Seed(
        app: seed.app, environment: seed.environment, transactionID: seed.transactionID,
        userID: userID ?? seed.userID)
    }
    let ids = Set(known.map(\.transactionID))
    seeds =
      known
      + originalTransactionIDs.filter { !ids.contains($0) }.map {
        Seed(app: app, environment: environment, transactionID: $0, userID: userID)
      }
  }
}

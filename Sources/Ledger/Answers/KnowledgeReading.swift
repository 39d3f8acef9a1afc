package import Database
package import Purchases
import Time

extension LedgerStore {
  package static let mostKnowledge = IDResolution.mostRows

  /// Returns the ledger's data about the account that owns these IDs.
  ///
  /// Throws `tooLarge` above `most` rows of one kind.
  ///
  /// - Parameter countsClaims: whether unsigned claims count too. Strangers can create any number of them. If false,
  ///   read one such account at a time.
  package static func knowledge(
    of ids: [String], app: App, environment: Environment, atMost most: Int = mostKnowledge,
    countsClaims: Bool = false, in session: borrowing Session
  ) throws(DatabaseError) -> CustomerStatements {
    let scope = AppScope(app: app.id, environment: environment)
    var knowledge = CustomerStatements(scope: scope, asked: ids)
    guard !ids.isEmpty else { return knowledge }
    for ids in ids.parts() { try readAccount(of: ids, atMost: most, into: &knowledge, in: session) }
    if knowledge.histories.isEmpty, ids.allSatisfy({ knowledge.unknown[$0]?.isOfID == true }),
      let last = knowledge.unknown.values.map(\.settledAt).min()
    {
      // Limited, since there may be millions of rows.
      let isProven = try !session.query(
        """
        SELECT 1 FROM (SELECT asked_at FROM \(Table.histories.by("PRIMARY")) WHERE app = \(app.id.number) LIMIT 1000) told
        WHERE asked_at <= \(last) LIMIT 1
        """
      ).isEmpty
      knowledge.forgottenSince = isProven ? last : nil
    }
    knowledge.keepAccount()
    guard knowledge.originalTransactionIDs.count <= most else { throw ReadLimit.tooLarge(most) }
    let names = [app.id: app.bundleID]
    for ids in knowledge.originalTransactionIDs.parts() {
      let purchases = Table.purchases.each(ids, in: scope)
      if countsClaims {
        // Without ORDER BY the query ends at the limit. Each source may state every purchase.
        let limit = Source.allCases.count * most
        let all = try session.query("SELECT 1 FROM \(purchases) LIMIT \(limit + 1)")
        guard all.count <= limit else { throw ReadLimit.tooLarge(most) }
      }
      let heard: SQL = "WHERE source IN (\(Source.signedV2.rawValue), \(Source.verifyReceiptAnswer.rawValue))"
      // Without ORDER BY the server stops at the limit and does not copy rows to sort them.
      let told = try PurchaseTable.read(
        from: purchases, heard, names, 2 * most + 1, order: "NULL", in: session
      ).sorted { $0.key < $1.key }
      knowledge.purchases += told.filter { $0.source == .signedV2 }
      knowledge.answered += told.filter { $0.source == .verifyReceiptAnswer }
      knowledge.renewals += try RenewalTable.read(
        from: Table.renewals.each(ids, in: scope), "WHERE source = \(Source.signedV2.rawValue)", names, most + 1,
        order: "NULL", in: session
      ).sorted { $0.key.originalTransactionID < $1.key.originalTransactionID }
      guard knowledge.purchases.count <= most, knowledge.answered.count <= most, knowledge.renewals.count <= most
      else { throw ReadLimit.tooLarge(most) }
      if !knowledge.hasOpenLookUp {
        let open = Table.claimedChanges.each(ids, in: scope)
        knowledge.hasOpenLookUp = try !session.query("SELECT 1 FROM \(open) LIMIT 1").isEmpty
      }
      let others = Set(ids).subtracting(knowledge.asked).sorted()
      if !knowledge.hasOpenLookUp, !others.isEmpty {
        knowledge.hasOpenLookUp = try isAskedAgain(others, scope, in: session)
      }
    }
    try keepFetched(&knowledge, in: session)
    try readConsent(&knowledge, atMost: countsClaims ? most : nil, in: session)
    return knowledge
  }

  /// Returns the environments with signed data about the ID, for receipts without a signed environment.
  ///
  /// - Parameter limit: the maximum number of rows, claims included. Above it: `tooLarge`. `nil`: no limit.
  package static func environments(
    naming id: String, app: App, atMost limit: Int? = nil, in session: borrowing Session
  ) throws(DatabaseError) -> Set<Environment> {
    var found: Set<Environment> = []
    let purchases = Table.purchases.everywhere(id, of: app.id)
    if let limit {
      let rows = try session.query(
        "SELECT environment, source FROM \(purchases) LIMIT \(limit + 1)")
      guard rows.count <= limit else { throw ReadLimit.tooLarge(limit) }
      for row in rows where try row.int("source") == Source.signedV2.rawValue {
        found.insert(try Environment(code: row.int("environment")))
      }
      return found
    }
    for row in try session.query(
      "SELECT DISTINCT environment FROM \(purchases) WHERE source = \(Source.signedV2.rawValue)")
    {
      found.insert(try Environment(code: row.int("environment")))
    }
    return found
  }

  private static func isAskedAgain(
    _ ids: [String], _ scope: AppScope, in session: borrowing Session
  ) throws(DatabaseError) -> Bool {
    try !session.query(
      """
      SELECT 1 FROM \(HistoryJobTable.listed(ids, in: scope))
      WHERE state = \(HistoryJobTable.State.waiting.rawValue) AND is_again = 1 LIMIT 1
      """
    ).isEmpty
  }

  private enum Part: Int {
    case history = 1, linked, work
  }

  private static func readAccount(
    of ids: [String], atMost most: Int, into knowledge: inout CustomerStatements, in session: borrowing Session
  ) throws(DatabaseError) {
    // Each ID may come from a history, from a customer and from a lookup.
    let (limit, scope) = (3 * most + 1, knowledge.scope)
    var count = 0
    let (app, environment) = (scope.app.number, scope.environment.code)
    let nodes = ids.map { CustomerNode.originalTransactionID($0).text }
    try session.query(
      """
      SELECT \(Part.history.rawValue) AS part, h.original_transaction_id AS id, h.asked_at AS at, h.held_with AS text
      FROM (SELECT DISTINCT held_with FROM \(Table.histories.each(ids, in: scope))) named
      STRAIGHT_JOIN histories h FORCE INDEX (by_held_with)
        ON h.app = \(app) AND h.environment = \(environment) AND h.held_with = named.held_with
      UNION ALL SELECT \(Part.linked.rawValue), SUBSTRING(m.node, 2), h.asked_at, NULL
      FROM \(CustomerMembers.together(nodes, in: scope))
      LEFT JOIN histories h FORCE INDEX (PRIMARY) ON h.app = \(app) AND h.environment = \(environment)
        AND h.original_transaction_id = SUBSTRING(m.node, 2)
      WHERE m.node LIKE 'o%'
      UNION ALL SELECT \(Part.work.rawValue), subject, IF(state <> \(HistoryJobTable.State.waiting.rawValue), settled_at, NULL),
        IF(state <> \(HistoryJobTable.State.waiting.rawValue), COALESCE(reason, ''), NULL)
      FROM \(HistoryJobTable.listed(ids, in: scope))
      WHERE state = \(HistoryJobTable.State.unknown.rawValue)
        OR (state = \(HistoryJobTable.State.waiting.rawValue) AND is_again = 1)
        OR (state = \(HistoryJobTable.State.failed.rawValue) AND reason LIKE '%4040001%')
      LIMIT \(limit)
      """
    ) { row throws(DatabaseError) in
      count += 1
      let (id, at) = (try row.text("id"), try row.optionalMilliseconds("at"))
      switch Part(rawValue: try row.int("part")) {
      case .history:
        knowledge.histories[id] = at
        knowledge.historyNames[id] = try row.text("text")
      case .linked: if at == nil { knowledge.unheld.append(id) }
      case .work:
        if let at {
          knowledge.unknown[id] = .init(settledAt: at, reason: try row.text("text"))
        } else {
          knowledge.hasOpenLookUp = true
        }
      case nil: break
      }
    }
    guard count < limit else { throw ReadLimit.tooLarge(most) }
  }

  /// Keeps only the responses that Switchyard fetched from Apple: a back end can submit any response.
  private static func keepFetched(
    _ knowledge: inout CustomerStatements, in session: borrowing Session
  ) throws(DatabaseError) {
    guard !knowledge.answered.isEmpty else { return }
    var fetched: Set<[UInt8]> = []
    for digests in Array(Set(knowledge.answered.map(\.message))).parts() {
      for row in try session.query(
        "SELECT digest FROM \(Table.inbox.each(digests)) WHERE kind = \(InboxMessage.Kind.verifyReceiptAnswer.rawValue)"
      ) { fetched.insert(try row.bytes("digest")) }
    }
    knowledge.answered.removeAll { !fetched.contains($0.message) }
  }

  /// Reads the times of Apple's price consent requests, if the response depends on them.
  ///
  /// A customer answers a request once. A later increase needs no consent.
  ///
  /// - Parameter limit: the maximum number of events, claims included. Above it: `tooLarge`. `nil`: no limit.
  private static func readConsent(
    _ knowledge: inout CustomerStatements, atMost limit: Int?, in session: borrowing Session
  ) throws(DatabaseError) {
    let priced = knowledge.renewals.filter { $0.facts[.priceIncreaseStatus] != nil }
      .map(\.key.originalTransactionID)
    for ids in priced.parts() {
      let below = Table.events.each(ids, in: knowledge.scope)
      if let limit {
        let events = try session.query("SELECT 1 FROM \(below) LIMIT \(limit + 1)")
        guard events.count <= limit else { throw ReadLimit.tooLarge(limit) }
      }
      var accepted: [String: Bool] = [:]
      for row in try session.query(
        """
        SELECT original_transaction_id, subtype, date FROM \(below)
        WHERE notification_type = 'PRICE_INCREASE' AND source = \(Source.signedV2.rawValue) ORDER BY date, id
        """)
      {
        let id = try row.text(0)
        switch try row.optionalText("subtype") {
        case "PENDING": (knowledge.askedToConsent[id], accepted[id]) = (try row.milliseconds("date"), false)
        case "ACCEPTED": if accepted.updateValue(true, forKey: id) == true { knowledge.askedToConsent[id] = nil }
        default: break
        }
      }
    }
  }
}

extension CustomerStatements {
  fileprivate mutating func keepAccount() {
    let others = Set(histories.keys).subtracting(asked)
    unheld = Set(unheld).subtracting(asked).sorted()
    // An incremental history names only the changed IDs. The others are unchanged and as recent.
    let latest = Dictionary(
      historyNames.compactMap { id, name in histories[id].map { (name, $0) } }, uniquingKeysWith: max)
    for (id, name) in historyNames { histories[id] = latest[name] }
    originalTransactionIDs = self.asked + others.sorted()
  }
}

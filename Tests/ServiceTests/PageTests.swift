@testable import Ledger
@testable import Service

@Suite struct `A page` {
  private static let app = "com.example.pages"

  /// A customer of whom much has the same date, the same message and the same id: whatever orders a list must tell it apart.
  private func dossier(_ random: inout SeededRandom) -> CustomerRecord {
    func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    let originals = (0..<8).map { "\(100 + $0)" }
    var purchases: [PurchaseStatement] = []
    var events: [Event] = []
    var attributions: [AccountAssociation] = []
    for _ in 0..<60 {
      let original = pick(originals)
      let (number, date) = (Int64.random(in: 0..<9, using: &random), Int64.random(in: 1..<6, using: &random) * 60_000)
      let source = pick([Source.signedV2, .signedV2, .notificationV1, .verifiedReceipt])
      let line = pick([Line(text: ""), Line(text: "\(number)"), Line(text: "p\(date)")])
      let rank = Rank(asOf: Timestamp(pick([1_000, 2_000])), tieBreak: pick([[], [1], [1, 0]]))
      let message = pick([[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)])
      let key = PurchaseKey(app: Self.app, environment: .sandbox, originalTransactionID: original, line: line)
      var facts = Facts<PurchaseField>()
      facts.set(.transactionId, .string("\(original)\(number)"))
      facts.set(.type, pick(["Consumable", "Auto-Renewable Subscription"]))
      if number < 8 { facts.set(.purchaseDate, .integer(date)) }
      if number.isMultiple(of: 3) { facts.set(.revocationDate, .integer(pick([date, 400_000]))) }
      facts.set(.transactionReason, "PURCHASE")
      purchases.append(PurchaseStatement(key: key, source: source, rank: rank, facts: facts, message: message))
      events.append(
        Event(
          app: Self.app, environment: .sandbox, notificationUUID: pick([nil, "u\(original)\(number)"]),
          notificationType: pick(["DID_RENEW", "REFUND"]), subtype: pick([nil, "A"]), originalTransactionID: original,
          transactionID: pick([nil, "\(original)\(number)"]), line: pick([nil, line]), date: Timestamp(date),
          source: source, rank: rank, details: pick([[:], ["a": 1]]), message: message, rule: nil))
      attributions.append(
        AccountAssociation(
          pick([.userID, .appAccountToken]), pick(["alice", "bob"]), of: original, line: pick([line, Line(text: "")]),
          from: Timestamp(pick([1_000, 2_000])), to: Timestamp(3_000), message: message,
          isClaimed: pick([false, true])))
    }
    let members = Set(originals.map(CustomerNode.originalTransactionID))
    return CustomerRecord(
      environment: .sandbox, originalTransactionIDs: originals,
      customers: ["o100": members.filter { $0.id < "104" }, "o104": members.filter { $0.id >= "104" }],
      purchases: purchases, renewals: [],
      appTransactions: ["72", "71"].map { id in
        var facts = Facts<AppTransactionField>()
        facts.set(.appTransactionId, .string(id))
        return AppTransactionStatement(
          key: AppTransactionKey(app: Self.app, environment: .sandbox, appTransactionID: id), source: .signedV2,
          rank: Rank(asOf: Timestamp(1), tieBreak: []), facts: facts, message: [])
      }, events: events, attributions: attributions)
  }

  /// The same below some originalTransactionIds.
  private func piece(_ dossier: CustomerRecord, _ originals: [String], isFirst: Bool) -> CustomerRecord {
    let ids = Set(originals)
    return CustomerRecord(
      environment: dossier.environment, originalTransactionIDs: originals, customers: dossier.customers,
      purchases: dossier.purchases.filter { ids.contains($0.key.originalTransactionID) }, renewals: [],
      appTransactions: isFirst ? dossier.appTransactions : [],
      events: dossier.events.filter { $0.originalTransactionID.map(ids.contains) ?? false },
      attributions: dossier.attributions.filter { ids.contains($0.originalTransactionID) })
  }

  private let document = PurchaseDocument(vocabulary: .embedded, now: Timestamp(500_000), showsProvenance: true)
  private let lists = ["purchases", "appTransactions", "events", "accounts", "transfers"]

  @Test func `after another gives every item once and in the order of the whole, whatever the limit and the pieces`()
    throws
  {
    var random = SeededRandom()
    for _ in 0..<40 {
      let dossier = dossier(&random)
      let whole = document.describe(dossier, .customers)
      let limit = Int.random(in: 1...25, using: &random)
      let claimBytes = Int.random(in: 1...20_000, using: &random)
      let cut = Int.random(in: 0...8, using: &random)
      var told: [String: [JSONValue]] = [:]
      var members: [JSONValue] = []
      var (cursor, pages): (PageCursor?, Int) = (nil, 0)
      while true {
        var page = ResultPage(
          document, of: dossier.customers, in: .sandbox, .customers, limit: limit,
          claimBytes: claimBytes, after: cursor.map { $0.ends[.sandbox] ?? [:] })
        let originals = dossier.originalTransactionIDs
        page.add(piece(dossier, Array(originals.prefix(cut)), isFirst: true))
        page.add(piece(dossier, Array(originals.dropFirst(cut)), isFirst: false))
        let (object, ends, hasMore) = page.finish()
        pages += 1
        for name in lists {
          let items = try #require(object[name]?.array)
          #expect(items.count <= limit)
          // One claim is given in any case.
          let claims = items.filter { $0.object?["unconfirmed"] == true || $0.object?["confirmed"] == false }
          #expect(claims.count <= 1 || claims.reduce(0) { $0 + $1.encoded().count } <= claimBytes)
          told[name, default: []] += items
        }
        for customer in object["customers"]?.array ?? [] {
          members += customer.object?["originalTransactionIds"]?.array ?? []
        }
        // What is never cut is the same on every page.
        #expect(object["subscriptions"] == whole["subscriptions"])
        let counts = object["counts"]?.object
        #expect((counts == nil) == (pages == 1 && !hasMore))
        if let counts {
          for name in lists { #expect(counts[name] == .integer(Int64(whole[name]?.array?.count ?? 0))) }
          #expect(counts["members"] == 8 && counts["customers"] == 2)
        }
        guard hasMore else { break }
        var next = PageCursor()
        next.ends[.sandbox] = ends
        cursor = try PageCursor(next.text(of: "a"), of: "a")
        guard pages < 200 else { break }
      }
      for name in lists { #expect(told[name] == whole[name]?.array, "\(name), seed \(random.seed)") }
      #expect(members == dossier.originalTransactionIDs.map(JSONValue.string))
      if limit < 8 { #expect(pages > 1) }
    }
  }

  /// Whoever has the shared secret can claim any number of lines below somebody's originalTransactionId, of any date.
  @Test func `holds what Apple signed before anything that is only claimed, however much that is`() throws {
    var random = SeededRandom()
    let all = dossier(&random)
    let dossier = CustomerRecord(
      environment: .sandbox, originalTransactionIDs: ["1"], customers: ["o1": [.originalTransactionID("1")]],
      purchases: [], renewals: [], appTransactions: [], events: [], attributions: [])
    func with(claims: Int) -> CustomerRecord {
      var filled = dossier
      for number in 0..<(3 + claims) {
        let isClaim = number >= 3
        let date = Int64(isClaim ? number : 100_000 + number) * 1_000
        var (purchase, event) = (all.purchases[0], all.events[0])
        purchase.source = isClaim ? .notificationV1 : .signedV2
        purchase.key.originalTransactionID = "1"
        purchase.key.line = Line(text: "\(1_000 + number)")
        purchase.facts = Facts()
        purchase.facts.set(.transactionId, .string("\(5_000 + number)"))
        purchase.facts.set(.type, "Auto-Renewable Subscription")
        purchase.facts.set(.purchaseDate, .integer(date))
        purchase.facts.set(.expiresDate, .integer(date + 1_000_000_000))
        purchase.facts.set(.transactionReason, "RENEWAL")
        filled.purchases.append(purchase)
        // Of what Apple signed nobody told: it is learned.
        guard isClaim else { continue }
        (event.source, event.notificationUUID, event.subtype) = (.notificationV1, nil, nil)
        (event.originalTransactionID, event.line) = ("1", purchase.key.line)
        (event.transactionID, event.date) = (nil, Timestamp(date))
        filled.events.append(event)
        filled.attributions.append(
          AccountAssociation(
            .appAccountToken, "claimed \(number)", of: "1", line: Line(text: ""), from: Timestamp(1),
            to: Timestamp(1), message: purchase.message, isClaimed: true))
      }
      filled.attributions.append(
        AccountAssociation(
          .appAccountToken, "signed", of: "1", line: Line(text: ""), from: Timestamp(9_000), to: Timestamp(9_000),
          message: all.purchases[0].message))
      return filled
    }
    func first(_ dossier: CustomerRecord) -> JSONObject {
      var page = ResultPage(document, of: dossier.customers, in: .sandbox, .customers, limit: 5)
      page.add(dossier)
      return page.finish().object
    }
    let (alone, buried) = (first(with(claims: 0)), first(with(claims: 400)))
    for (list, signed) in [("purchases", 3), ("events", 3), ("accounts", 1)] {
      let items = try #require(alone[list]?.array)
      #expect(items.count == signed, "\(list)")
      let told = try #require(buried[list]?.array)
      #expect(told.count == 5 && Array(told.prefix(signed)) == items, "\(list)")
    }
    #expect(buried["counts"]?.object?["purchases"] == 403)
  }

  @Test func `of everything is the document as it was without pages`() {
    var random = SeededRandom()
    let dossier = dossier(&random)
    var page = ResultPage(document, of: dossier.customers, in: .sandbox, .customers, limit: 1_000)
    page.add(dossier)
    let (object, _, hasMore) = page.finish()
    #expect(object == document.describe(dossier, .customers) && !hasMore)
    #expect(object["counts"] == nil)
  }

  @Test func `begins where the one before ended although items came before it`() throws {
    var list = PageList<Int>(limit: 2, after: nil)
    func position(_ number: Int) -> ItemPosition { ItemPosition(id: "\(1_000 + number)") }
    for number in [9, 3, 5, 7] { list.add(number, at: position(number)) }
    let first = list.page()
    #expect(first.items == [3, 5] && first.hasMore && list.count == 4)
    var next = PageList<Int>(limit: 2, after: first.end)
    for number in [1, 9, 3, 4, 5, 6, 7] { next.add(number, at: position(number)) }
    #expect(next.page().items == [6, 7] && next.page().hasMore)
    // The end is kept, so that what comes after it can still be asked for.
    var last = PageList<Int>(limit: 2, after: position(9))
    last.add(9, at: position(9))
    #expect(last.page().items.isEmpty && last.page().end == position(9) && !last.page().hasMore)
  }

  @Test func `keeps no more than it gives, however much there is`() {
    var list = PageList<Int>(limit: 3, after: nil)
    for number in (0..<5_000).reversed() { list.add(number, at: ItemPosition(id: "\(10_000 + number)")) }
    #expect(list.page().items == [0, 1, 2] && list.count == 5_000)
  }

  @Test func `has a cursor that is read back, and none that was made for something else`() throws {
    var cursor = PageCursor()
    cursor.ends = [
      .sandbox: [.purchases: ItemPosition(id: "1"), .members: ItemPosition(bytes: [])],
      .production: [.transfers: ItemPosition(bytes: [0, 255])],
    ]
    let text = cursor.text(of: "app/customers/1")
    #expect(try PageCursor(text, of: "app/customers/1").ends == cursor.ends)
    for (text, request) in [
      (text, "app/customers/2"), ("", "app/customers/1"), ("%", "app/customers/1"), (text + "AA", "app/customers/1"),
      (String(text.dropLast(4)), "app/customers/1"), (String(repeating: "A", count: 20_000), "app/customers/1"),
    ] {
      #expect(throws: PageCursor.Unusable.self, "\(text)") { try PageCursor(text, of: request) }
    }
  }

  @Test func `has positions that sort as the values do`() {
    func position(_ text: String, _ number: Int64) -> ItemPosition {
      var position = ItemPosition()
      position.append(text)
      position.append(number)
      return position
    }
    let values: [(String, Int64)] = [
      ("", .min), ("", -1), ("", 0), ("", .max), ("\0", 0), ("\0a", 0), ("\u{1}", 0), ("a", 5), ("a\0", 1),
      ("a\u{1}", 0),
      ("ab", -5), ("b", 0),
    ]
    let positions = values.map(position)
    #expect(positions == positions.sorted() && Set(positions).count == positions.count)
  }
}

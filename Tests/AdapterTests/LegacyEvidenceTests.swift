@Suite struct `Evidence of the old generation` {
  private func answer(_ status: JSONValue, _ more: JSONObject = [:]) -> JSONObject {
    var answer: JSONObject = [
      "status": status, "environment": "Sandbox",
      "receipt": [
        "bundle_id": .string(Bench.app), "receipt_type": "ProductionSandbox",
        "request_date_ms": .string(String(Bench.day(45).sinceEpoch)),
        "in_app": [.object(Bench.with(Bench.row("1009", 30, 60), "subscription_group_identifier", nil))],
      ],
      "latest_receipt_info": [.object(Bench.row("1000", 30, 60)), .object(HappeningFixture.coins([:]))],
    ]
    for member in more { answer[member.key] = member.value }
    return answer
  }

  @Test(arguments: Vocabulary.embedded.legacyStatuses.answers.map { ($0.id, $0.codes.lowerBound) })
  func `is taken or refused by the row of its status`(id: String, status: Int64) throws {
    let row = try #require(Vocabulary.embedded.legacyStatuses[status])
    do {
      let reading = try Bench.legacyEvidence(answer(.integer(status)).encoded())
      #expect(row.holdsData && reading.findings.purchases.count == 3)
    } catch {
      #expect(!row.holdsData && error.code == MessageError.Code.verifyReceiptStatus.rawValue)
      #expect(error.detail.contains(row.meaning) && error.detail.contains("(\(id))"))
    }
  }

  @Test func `of both lists makes one purchase, found by every id`() throws {
    let findings = try Bench.legacyEvidence(answer(0).encoded()).findings
    let period = try #require(findings.purchases.first { $0.key.originalTransactionID == "1000" })
    // The lines differ (91000, 91009): two periods of two rows would be two purchases.
    #expect(findings.purchases.filter { $0.key.originalTransactionID == "1000" }.count == 2)
    #expect(period.rank.asOf == Bench.day(45))
    var same = answer(0)
    var receipt = try #require(same["receipt"]?.object)
    receipt["in_app"] = [.object(Bench.with(Bench.row("1000", 30, 60), "transaction_id", "1009"))]
    same["receipt"] = .object(receipt)
    let joined = try Bench.legacyEvidence(same.encoded()).findings
    #expect(joined.purchases.count == 2)
    let ids = joined.aliases.filter { $0.kind == .transactionID && $0.originalTransactionID == "1000" }.map(\.id)
    #expect(Set(ids) == ["1000", "1009"])
    #expect(joined.purchases.first { $0.key.originalTransactionID == "1000" }?.facts.text(.transactionId) == "1000")
  }

  @Test func `joins nobody by what only a secret or an unsigned answer says, and keeps it as a claim`() throws {
    let rows = [Bench.row("1000", 30, 60), HappeningFixture.coins([:])]
    for findings in [
      try Bench.legacyEvidence(answer(0).encoded()).findings,
      try Bench.legacy(Bench.v1("DID_RENEW", rows), trust: .none).findings,
      try Bench.legacy(Bench.v1("DID_RENEW", rows), trust: .sharedSecret).findings,
    ] {
      #expect(findings.links.isEmpty)
      let ids = findings.originalTransactionIDs
      #expect(ids.count == 2 && findings.claimedLinks == Self.chain(ids))
    }
  }

  @Test func `joins what stands in an answer that we fetched`() throws {
    let body = answer(0).encoded()
    let fetched = try Bench.legacyAdapter.answer(
      body, app: Bench.app, environment: nil, message: .sha256(body), now: Bench.now
    ).findings
    #expect(fetched.links == Self.chain(fetched.originalTransactionIDs) && fetched.links.count == 1)
    #expect(fetched.claimedLinks.isEmpty)
  }

  /// The links between each id and the next.
  private static func chain(_ ids: [String]) -> [CustomerLink] {
    zip(ids, ids.dropFirst()).map {
      CustomerLink(app: Bench.app, environment: .sandbox, .originalTransactionID($0), .originalTransactionID($1))
    }
  }

  @Test func `that we fetched ourselves is Apple's own word`() throws {
    let body = answer(0).encoded()
    let reading = try Bench.legacyAdapter.answer(
      body, app: Bench.app, environment: nil, message: .sha256(body), now: Bench.now)
    #expect(reading.trust == .apple)
    #expect(throws: MessageError(.unreadable, .notAMessage, "")) {
      try Bench.legacyAdapter.answer([0x7B, 0x7D], app: nil, environment: nil, message: .sha256([]), now: Bench.now)
    }
  }

  @Test func `is never of a time after it came`() throws {
    var late = answer(0)
    var receipt = try #require(late["receipt"]?.object)
    receipt["request_date_ms"] = .string(String((Bench.now + .days(9)).sinceEpoch))
    late["receipt"] = .object(receipt)
    #expect(
      Set(try Bench.legacyEvidence(late.encoded()).findings.purchases.map(\.rank.asOf)) == [Bench.now])
  }

  /// Without a receipt in it a body is dated by what it tells; 78 hours later it still is.
  @Test(arguments: [0, 78, 24 * 90])
  func `is of the same time whenever it comes`(hoursLate: Int64) throws {
    let rows = [Bench.row("1000", 30, 60, ["cancellation_date_ms": Bench.ms(59)]), Bench.row("1001", 58, 61)]
    let received = Bench.day(60) + .hours(hoursLate)
    let running = try Bench.legacy(Bench.v1("CANCEL", rows), at: received).findings.purchases
    #expect(Set(running.map(\.rank.asOf)) == [Bench.day(59)])
    let flat: JSONObject = [
      "status": 0, "receipt": .object(Bench.with(Bench.row("1001", 40, 44), "bid", .string(Bench.app))),
      "latest_receipt_info": .object(Bench.row("1001", 40, 44)),
    ]
    let answered = try Bench.legacyEvidence(flat.encoded(), in: .sandbox).findings.purchases
    #expect(Set(answered.map(\.rank.asOf)) == [Bench.day(40)])
  }

  @Test func `is of the end of the period where it says that it has passed`() throws {
    let failed = Bench.v1("DID_FAIL_TO_RENEW", [Bench.row("1000", 30, 40)], ["is_in_billing_retry_period": "1"])
    let ended = Bench.v1("DID_CHANGE_RENEWAL_STATUS", [Bench.row("1000", 30, 40)], ["expiration_intent": "1"])
    for body in [failed, ended] {
      #expect(Set(try Bench.legacy(body).findings.purchases.map(\.rank.asOf)) == [Bench.day(40)])
    }
  }

  @Test(arguments: ["originalTransactionId", "transactionId"])
  func `may be an id alone, with the account it belongs to`(key: String) throws {
    let body: JSONObject = [key: "2000000123", "userId": "ada"]
    let unknown = try Bench.legacyEvidence(body.encoded())
    #expect(
      unknown.findings.seeds == [
        TransactionReference(app: Bench.app, environment: nil, transactionID: "2000000123", userID: "ada")
      ])
    #expect(unknown.findings.purchases.isEmpty && unknown.findings.links.isEmpty)
    let known = try Bench.legacyEvidence(
      JSONObject([(key, JSONValue.integer(2_000_000_123))]).encoded(), in: .sandbox, userID: "bob")
    #expect(
      known.findings.seeds == [
        TransactionReference(app: Bench.app, environment: .sandbox, transactionID: "2000000123", userID: "bob")
      ])
  }

  @Test func `is the request's user's, whomever the body names, and says when the two differ`() throws {
    let body: JSONObject = ["transactionId": "2000000123", "userId": "mallory"]
    let read = try Bench.legacyEvidence(body.encoded(), userID: "ada")
    #expect(read.objection?.code == MessageError.Code.userIdContradicts.rawValue)
    #expect(read.findings.seeds.map(\.userID) == ["ada"])
    #expect(read.findings.waitingUserIDs.map(\.userID) == ["ada"])
    for (beside, inside, user) in [("ada", "ada", "ada"), ("ada", " ", "ada"), (" ", "bob", "bob")] {
      let same = try Bench.legacyEvidence(Bench.with(body, "userId", .string(inside)).encoded(), userID: beside)
      #expect(same.objection == nil && same.findings.seeds.map(\.userID) == [user])
    }
    // One name to the eye, two to a table.
    let alike = try Bench.legacyEvidence(
      Bench.with(body, "userId", .string("Jos\u{E9}")).encoded(), userID: "Jose\u{301}")
    #expect(alike.objection != nil)
  }

  private static let purchases = purchases(life: 1)

  private static func purchases(life: Int) -> [SimulatedTransaction] {
    var ids = IdentifierSource(environment: .sandbox, seed: 7, life: life)
    let app = SimulatedApp(name: "", bundleID: Bench.app, appAppleID: 1)
    let customer = Customer(name: "Ada", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    return [Product(.consumable, id: "coins", price: 990), Product(.nonConsumable, id: "forever", price: 990)].map {
      SimulatedTransaction(of: $0, by: customer, in: app, at: Bench.day(20), ids: &ids)
    }
  }

  private func receipt(
    _ pki: ReceiptPKI = Bench.receiptPKI, app: String = Bench.app, at day: Int64 = 41,
    of purchases: [SimulatedTransaction] = Self.purchases
  ) throws -> String {
    let app = SimulatedApp(name: "", bundleID: app, appAppleID: 1)
    let receipt = SimulatedReceipt(of: app, purchases: purchases, createdAt: Bench.day(day))
    return String(decoding: try receipt.encoded(signedBy: pki), as: UTF8.self)
  }

  private func withReceipt(_ receipt: String) throws -> JSONObject {
    var body = Bench.v1("DID_RENEW", [Bench.row("1000", 30, 60)])
    var unified = try #require(body["unified_receipt"]?.object)
    unified["latest_receipt"] = .string(receipt)
    body["unified_receipt"] = .object(unified)
    return body
  }

  @Test func `holds a receipt that proves it, dates it, and says what it alone knows`() throws {
    let day: Int64 = 41
    let reading = try Bench.legacy(withReceipt(receipt(at: day)), trust: .none, at: Bench.day(day + 1))
    #expect(reading.trust == .receipt)
    let told = reading.findings.purchases.filter { $0.source == .notificationV1 }
    #expect(Set(told.map(\.rank.asOf)) == [Bench.day(day)])
    let proven = reading.findings.purchases.filter { $0.source == .verifiedReceipt }
    #expect(Set(proven.map { $0.facts.text(.type) }) == ["Consumable", "Non-Consumable"])
    #expect(reading.findings.seeds.count == 3)
    // A receipt joins its own lines. What the body lists beside them may be anybody's.
    let signed = Set(proven.map(\.key.originalTransactionID))
    #expect(signed.count == 2 && !signed.contains("1000"))
    #expect(reading.findings.links == Self.chain(signed.sorted()))
    let claimed = Set(reading.findings.claimedLinks.flatMap { [$0.a.id, $0.b.id] })
    #expect(reading.findings.claimedLinks.count == 1 && claimed.contains("1000"))
  }

  @Test func `is not refused for a receipt that proves nothing`() throws {
    for text in [try receipt(.generate(at: Bench.now)), try receipt(app: "com.example.other"), "ZmFrZQ==", "", "%"] {
      let reading = try Bench.legacy(withReceipt(text))
      #expect(reading.trust == .sharedSecret)
      #expect(reading.findings.purchases.map(\.source) == [.notificationV1])
    }
  }

  /// A library's list of purchases, as iOS 6 has a receipt for each, or two customers' in one request.
  @Test func `is every receipt in an object, and says which it did not read`() throws {
    let day = (Bench.now - Bench.day0).milliseconds / 86_400_000
    let (first, second) = (try receipt(at: day), try receipt(at: day, of: Self.purchases(life: 2)))
    let list: JSONObject = [
      "purchases": [["transactionReceipt": .string(first)], ["transactionReceipt": .string(second)]]
    ]
    let reading = try Bench.legacyEvidence(list.encoded(), userID: "ada")
    #expect(reading.trust == .receipt)
    #expect(reading.findings.seeds.count == 4)
    #expect(Set(reading.findings.userIDs.map(\.originalTransactionID)).count == 4)
    #expect(reading.survey.unknownFields.isEmpty)
    // They are of two customers for all that Apple says.
    #expect(reading.findings.links.count == 2)
    let forged = try receipt(.generate(at: Bench.now), at: day, of: Self.purchases(life: 2))
    for texts in [(first, forged), (forged, first)] {
      let mixed: JSONObject = ["a": .string(texts.0), "b": .string(texts.1)]
      let half = try Bench.legacyEvidence(mixed.encoded())
      #expect(half.findings.seeds.count == 2)
      #expect(half.survey.unknownFields == ["furtherReceipts"])
    }
    let beside: JSONObject = ["receipt-data": .string(forged), "transactionId": "2000000444444445"]
    let id = try Bench.legacyEvidence(beside.encoded())
    #expect(id.findings.seeds.map(\.transactionID) == ["2000000444444445"])
    #expect(id.survey.unknownFields == ["receipt-data"])
  }

  @Test func `may be a receipt, bare or as a client sends it`() throws {
    let text = try receipt(at: (Bench.now - Bench.day0).milliseconds / 86_400_000)
    let request: JSONObject = ["receipt-data": .string(text), "userId": "ada"]
    for body in [Array(text.utf8), request.encoded()] {
      let reading = try Bench.legacyEvidence(body)
      #expect(reading.trust == .receipt && reading.findings.seeds.count == 2)
      #expect(Set(reading.findings.purchases.map(\.source)) == [.verifiedReceipt])
    }
    let stranger = try receipt(.generate(at: Bench.now), at: (Bench.now - Bench.day0).milliseconds / 86_400_000)
    let unproven = try Bench.legacyEvidence(Array(stranger.utf8))
    #expect(unproven.trust == .none && unproven.findings.links.isEmpty && unproven.findings.claimedLinks.count == 1)
    #expect(Set(unproven.findings.purchases.map(\.source)) == [.unverifiedReceipt])
    #expect(throws: MessageError(.authentic, .wrongBundle, "")) {
      try Bench.legacyEvidence(Array(text.utf8), of: "com.example.other")
    }
    #expect(throws: MessageError(.authentic, .environmentUnknown, "")) {
      try Bench.legacyEvidence(Array(text.utf8), in: .production)
    }
  }

  /// Whatever is changed in a body: it is read or refused, the same way each time and in whichever order rows stand.
  @Test(arguments: UInt64(1)...8)
  func `with anything changed in it is read the same way each time`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let values: [JSONValue] = [
      .null, true, "", "0", "x", "-1", 0, -1, .integer(.max), .integer(.min), .string(String(Int64.max)),
      .string(String(Int64.min)), [], [:], [[:]], "2020-11-25 08:31:02 Etc/GMT",
    ]
    for _ in 0..<60 {
      let fixture = try #require(HappeningFixture.all.randomElement(using: &random))
      var body = fixture.body
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        body = mutated(body, try #require(values.randomElement(using: &random)), &random)
      }
      do {
        let reading = try Bench.legacy(body)
        #expect(try Bench.legacy(body).findings == reading.findings)
        let reversed = try Bench.legacy(reordered(body)).findings
        #expect(facts(reversed) == facts(reading.findings))
        #expect(Set(reversed.events.map(\.meaning)) == Set(reading.findings.events.map(\.meaning)))
      } catch { #expect(!error.detail.isEmpty) }
    }
  }

  private func facts(_ findings: Findings) -> [PurchaseKey: Facts<PurchaseField>] {
    Dictionary(findings.purchases.map { ($0.key, $0.facts) }) { first, _ in first }
  }

  private func mutated(_ object: JSONObject, _ value: JSONValue, _ random: inout SeededRandom) -> JSONObject {
    var changed = object
    guard let member = object.members.randomElement(using: &random) else { return object }
    if let inner = member.value.object, Bool.random(using: &random) {
      changed[member.key] = .object(mutated(inner, value, &random))
    } else if let list = member.value.array, let place = list.indices.randomElement(using: &random),
      let inner = list[place].object
    {
      var list = list
      list[place] = .object(mutated(inner, value, &random))
      changed[member.key] = .array(list)
    } else {
      changed[member.key] = value
    }
    return changed
  }

  /// Rows and members the other way round.
  private func reordered(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.reversed().map { member in
        switch member.value {
        case .object(let inner): (member.key, .object(reordered(inner)))
        case .array(let list):
          (member.key, .array(list.reversed().map { $0.object.map { .object(reordered($0)) } ?? $0 }))
        case .null, .bool, .integer, .number, .string: (member.key, member.value)
        }
      })
  }
}

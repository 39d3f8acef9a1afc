/// A row of `v1-events.tsv` and a body of which it holds.
struct HappeningFixture: CustomTestStringConvertible, Sendable {
  let rule: String
  let body: JSONObject
  /// "TYPE/SUBTYPE" on a day, in the order of the table; empty for a companion.
  let events: [String]

  init(_ rule: String, _ body: JSONObject, _ events: String...) {
    self.rule = rule
    self.body = body
    self.events = events
  }

  var testDescription: String { rule }

  private static let running = Bench.row("1000", 30, 60)
  private static let ended = Bench.row("1001", 0, 30)

  private static func switched(
    _ on: String, _ row: JSONObject, change: JSONValue = Bench.ms(40), _ pending: JSONObject = [:]
  ) -> JSONObject {
    Bench.v1(
      "DID_CHANGE_RENEWAL_STATUS", [row], pending,
      ["auto_renew_status": .string(on), "auto_renew_status_change_date_ms": change])
  }

  private static func endedFor(_ intent: JSONValue) -> JSONObject {
    switched("false", ended, ["expiration_intent": intent, "is_in_billing_retry_period": "0"])
  }

  static let all: [Self] = [
    Self("V-001", Bench.v1("INITIAL_BUY", [running]), "SUBSCRIBED/INITIAL_BUY 30"),
    Self(
      "V-002",
      Bench.v1(
        "INTERACTIVE_RENEWAL",
        [Bench.row("1001", 20, 50, ["is_upgraded": "true"]), Bench.row("1002", "yearly", 30, 390)]),
      "DID_CHANGE_RENEWAL_PREF/UPGRADE 30"),
    Self(
      "V-003", Bench.v1("INTERACTIVE_RENEWAL", [Bench.row("1002", 30, 60), Bench.row("1000", 0, 10)]),
      "SUBSCRIBED/RESUBSCRIBE 30"),
    Self("V-004", Bench.v1("INTERACTIVE_RENEWAL", [running]), "SUBSCRIBED/INITIAL_BUY 30"),
    Self(
      "V-005",
      Bench.v1(
        "INTERACTIVE_RENEWAL",
        [Bench.row("1000", 20, 50), Bench.row("1002", 30, 80, ["offer_code_ref_name": "spring"])]),
      "OFFER_REDEEMED 30"),
    Self(
      "V-006", Bench.v1("DID_CHANGE_RENEWAL_PREF", [running], ["auto_renew_product_id": "weekly"]),
      "DID_CHANGE_RENEWAL_PREF/DOWNGRADE 30"),
    Self("V-007", Bench.v1("DID_CHANGE_RENEWAL_PREF", [running]), "DID_CHANGE_RENEWAL_PREF 30"),
    Self(
      "V-008",
      switched("true", running, change: .string(String((Bench.day(30) + .seconds(4)).sinceEpoch)))),
    Self(
      "V-009",
      switched("false", Bench.row("1000", 30, 60, ["cancellation_date_ms": Bench.ms(35)]), change: Bench.ms(35))),
    Self("V-010", switched("true", running), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED 40"),
    Self("V-011", switched("false", running), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40"),
    Self("V-012", endedFor("1"), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40", "EXPIRED/VOLUNTARY 30"),
    Self("V-013", endedFor("2"), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40", "EXPIRED/BILLING_RETRY 30"),
    Self("V-014", endedFor(3), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40", "EXPIRED/PRICE_INCREASE 30"),
    Self("V-015", endedFor("4"), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40", "EXPIRED/PRODUCT_NOT_FOR_SALE 30"),
    Self("V-016", endedFor("5"), "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 40", "EXPIRED 30"),
    Self(
      "V-017",
      Bench.v1(
        "CANCEL",
        [
          Bench.row("1001", 20, 50, ["is_upgraded": "true", "cancellation_date_ms": Bench.ms(30)]),
          Bench.row("1002", "yearly", 30, 390),
        ], [:], ["web_order_line_item_id": "91001", "cancellation_date_ms": Bench.ms(30)]),
      "DID_CHANGE_RENEWAL_PREF/UPGRADE 30"),
    Self(
      "V-018",
      Bench.v1("CANCEL", [running], [:], ["web_order_line_item_id": "91000", "cancellation_date_ms": Bench.ms(35)]),
      "REFUND 35"),
    Self(
      "V-019",
      Bench.v1(
        "DID_FAIL_TO_RENEW", [ended],
        ["is_in_billing_retry_period": "1", "grace_period_expires_date_ms": Bench.ms(46)]),
      "DID_FAIL_TO_RENEW/GRACE_PERIOD 30"),
    Self(
      "V-020", Bench.v1("DID_FAIL_TO_RENEW", [ended], ["is_in_billing_retry_period": "0"]),
      "EXPIRED/BILLING_RETRY 30"),
    Self("V-021", Bench.v1("DID_FAIL_TO_RENEW", [ended], ["is_in_billing_retry_period": "1"]), "DID_FAIL_TO_RENEW 30"),
    Self("V-022", Bench.v1("DID_RENEW", [running, ended]), "DID_RENEW 30"),
    Self("V-023", Bench.v1("DID_RECOVER", [running, ended]), "DID_RENEW/BILLING_RECOVERY 30"),
    Self("V-024", Bench.v1("RENEWAL", [running, ended]), "DID_RENEW/BILLING_RECOVERY 30"),
    Self(
      "V-025", Bench.v1("PRICE_INCREASE_CONSENT", [running], ["price_consent_status": "1"]),
      "PRICE_INCREASE/ACCEPTED 30"),
    Self(
      "V-026", Bench.v1("PRICE_INCREASE_CONSENT", [running], ["price_consent_status": "0"]),
      "PRICE_INCREASE/PENDING 30"),
    Self(
      "V-027", Bench.v1("REFUND", [running, coins(["cancellation_date_ms": Bench.ms(36)])]), "REFUND 36"),
    Self(
      "V-028",
      Bench.v1(
        "REVOKE",
        [
          Bench.row(
            "1000", 30, 60, ["cancellation_date_ms": Bench.ms(37), "in_app_ownership_type": "FAMILY_SHARED"])
        ]), "REVOKE 37"),
    Self("V-029", Bench.v1("CONSUMPTION_REQUEST", [coins([:])]), "CONSUMPTION_REQUEST 33"),
  ]

  static func coins(_ more: JSONObject) -> JSONObject {
    var row: JSONObject = [
      "quantity": "1", "product_id": "coins", "transaction_id": "2000", "original_transaction_id": "2000",
      "purchase_date_ms": Bench.ms(33),
    ]
    for member in more { row[member.key] = member.value }
    return row
  }
}

@Suite struct `A V1 notification` {
  private let table = Vocabulary.embedded.legacyEvents

  private func named(_ event: Event) -> String {
    let day = (event.date - Bench.day0).milliseconds / 86_400_000
    return "\(event.notificationType)\(event.subtype.map { "/\($0)" } ?? "") \(day)"
  }

  /// As published bodies of 2020 do: ../shared/cases/public-reports/08-cancel-without-line-item.
  @Test(arguments: ["20c-cancel-no-ms", "20d-cancel-flat-no-ms"])
  func `of CANCEL without a date and a line at the top is of the row that was cancelled`(name: String) throws {
    let bytes = try #require(Samples.bytes("../cases/public-reports/08-cancel-without-line-item/\(name).json"))
    let body = try #require(try JSONReader.read(bytes).object)
    let findings = try Bench.legacy(body, app: "com.example.reader", at: Timestamp(1_600_000_000_000)).findings
    #expect(findings.events.map(\.notificationType) == ["REFUND"])
    #expect(findings.events.map(\.transactionID) == ["1000000700000002"])
    #expect(findings.eventsWithoutRow.isEmpty)
  }

  @Test func `of CANCEL without a line takes back nothing but the row of its date, and nothing bought since`() throws {
    let lifetime: JSONObject = [
      "product_id": "lifetime", "transaction_id": "1", "purchase_date_ms": Bench.ms(1), "quantity": "1",
      "cancellation_date_ms": Bench.ms(35),
    ]
    var pack = lifetime
    (pack["product_id"], pack["transaction_id"], pack["cancellation_date_ms"]) = ("pack", "2", nil)
    let two = try Bench.legacy(Bench.v1("CANCEL", [lifetime, pack], [:], ["cancellation_date_ms": Bench.ms(35)]))
    #expect(
      two.findings.purchases.filter { $0.facts[.revocationDate] != nil }.map(\.key.originalTransactionID) == ["1"])
    let fresh = Bench.v1("CANCEL", [Bench.row("1000", 35, 65)], [:], ["cancellation_date_ms": Bench.ms(35)])
    let upgraded = try Bench.legacy(fresh).findings
    #expect(upgraded.events.map(\.transactionID) == [nil], "Apple is asked what was taken back")
    #expect(upgraded.purchases.allSatisfy { $0.facts[.revocationDate] == nil })
  }

  @Test func `of a refund without rows names an id to ask by`() throws {
    for rows in [[], [Bench.row("1", 0, 30)]] {
      let body = Bench.v1("REFUND", rows, [:], ["original_transaction_id": 2000])
      #expect(try Bench.legacy(body).findings.eventsWithoutRow == ["2000": [.refund, .refundWithoutRow]])
      #expect(try Bench.legacy(body).findings.claimedOriginals.contains("2000"))
    }
  }

  @Test func `has a fixture for every row of the table, and every fixture a row`() {
    #expect(HappeningFixture.all.map(\.rule) == table.rows.map(\.id))
  }

  @Test(arguments: HappeningFixture.all)
  func `means what its row says`(fixture: HappeningFixture) throws {
    let reading = try Bench.legacy(fixture.body)
    let events = reading.findings.events
    #expect(events.map(named) == fixture.events)
    if let event = events.last { #expect(event.rule == fixture.rule) }
    let row = try #require(table.rows.first { $0.id == fixture.rule })
    #expect((row.event == nil) == fixture.events.isEmpty)
    #expect(events.allSatisfy { $0.source == .notificationV1 && $0.notificationUUID == nil })
    #expect(!events.contains { $0.details["password"] != nil })
  }

  /// V2 dates by its own signature what V1 tells only roughly: those two cannot be known as one.
  @Test func `is dated as V2 dates it, or as V2 cannot`() throws {
    for row in table.rows {
      guard let event = row.event else { continue }
      let v2 = try #require(Vocabulary.embedded.events[event.notificationType, event.subtype], "\(row.id)")
      switch (event.moment, v2.moment) {
      case (.purchase, .purchase), (.expiry, .expiry), (.revocation, .revocation): break
      case (_, .signed): break
      default: Issue.record("\(row.id): \(event.moment) here, \(v2.moment) in V2")
      }
    }
  }

  @Test(arguments: HappeningFixture.all)
  func `and V2 saying the same are one event`(fixture: HappeningFixture) throws {
    let reading = try Bench.legacy(fixture.body)
    for event in reading.findings.events {
      let row = try #require(Vocabulary.embedded.events[event.notificationType, event.subtype])
      if row.moment == .signed { continue }
      let told = try #require(
        reading.findings.purchases.first {
          $0.key.originalTransactionID == event.originalTransactionID && $0.key.line == event.line
        })
      var transaction = told.facts.json
      transaction["inferred"] = nil
      transaction["bundleId"] = .string(Bench.app)
      transaction["environment"] = "Sandbox"
      transaction["signedDate"] = .integer(Bench.signed.sinceEpoch)
      let v2 = try Bench.read(
        Bench.payload(event.notificationType, event.subtype, "data", Bench.data(transaction)))
      #expect(v2.findings.events.map(\.meaning) == [event.meaning])
    }
  }

  @Test func `that asks about consumption is of the purchase that it names, else of its only one, never of the last`()
    throws
  {
    let rows = [
      HappeningFixture.coins([:]),
      HappeningFixture.coins([
        "transaction_id": "2001", "original_transaction_id": "2001", "purchase_date_ms": Bench.ms(35),
      ]),
    ]
    func asked(_ rows: [JSONObject], _ top: JSONObject = [:]) throws -> Event {
      let events = try Bench.legacy(Bench.v1("CONSUMPTION_REQUEST", rows, [:], top)).findings.events
      #expect(events.count == 1)
      return try #require(events.first)
    }
    #expect(try asked([rows[0]]).transactionID == "2000")
    let named = try asked(rows, ["original_transaction_id": "2000"])
    #expect(named.transactionID == "2000" && named.originalTransactionID == "2000")
    for rows in [rows, rows.reversed()] {
      let unnamed = try asked(rows)
      #expect(unnamed.transactionID == nil && unnamed.line == nil)
    }
    #expect(try asked([rows[1]], ["original_transaction_id": "2000"]).transactionID == nil)
  }

  @Test func `of an unknown type keeps its name, and its facts`() throws {
    let reading = try Bench.legacy(Bench.v1("NEW_THING", [Bench.row("1000", 30, 60)]))
    let event = try #require(reading.findings.events.first)
    #expect(event.notificationType == "NEW_THING" && event.rule == nil && event.subtype == nil)
    #expect(reading.findings.purchases.count == 1 && reading.findings.renewals.count == 1)
    #expect(reading.survey.unknownValues == ["notification_type=NEW_THING"])
  }

  @Test func `that its own body does not explain keeps its name`() throws {
    // An interactive renewal of which neither the first purchase nor the one before is there.
    let reading = try Bench.legacy(Bench.v1("INTERACTIVE_RENEWAL", [Bench.row("1007", 30, 60)]))
    #expect(reading.findings.events.map(\.notificationType) == ["INTERACTIVE_RENEWAL"])
    #expect(reading.findings.events.first?.rule == nil)
  }

  @Test func `supposes the upgrade that nobody marked, and prefers what is stated`() throws {
    let body = Bench.v1(
      "INTERACTIVE_RENEWAL", [Bench.row("1001", "yearly", 20, 380), Bench.row("1002", 30, 60)])
    let findings = try Bench.legacy(body).findings
    #expect(findings.events.map(named) == ["DID_CHANGE_RENEWAL_PREF/UPGRADE 30"])
    let purchases = Purchase.fold(findings.purchases, rules: Vocabulary.embedded.purchases.rules)
    let replaced = try #require(purchases.first { $0.key.line.text == "91001" }?.facts)
    #expect(findings.purchases.allSatisfy { $0.facts[.isUpgraded] == nil }, "the rows of a body state it or nobody")
    #expect(replaced.flag(.isUpgraded) == true && replaced.isInferred(.isUpgraded))
  }

  @Test func `of another purchase after a refund replaces nothing`() throws {
    for product in ["monthly", "yearly"] {
      let refunded = Bench.row("1001", 20, 50, ["cancellation_date_ms": Bench.ms(25)])
      let body = Bench.v1("INTERACTIVE_RENEWAL", [refunded, Bench.row("1002", product, 30, 60)])
      let findings = try Bench.legacy(body).findings
      #expect(findings.events.map(named) == ["SUBSCRIBED/RESUBSCRIBE 30"], "\(product)")
      let purchases = Purchase.fold(findings.purchases, rules: Vocabulary.embedded.purchases.rules)
      #expect(purchases.allSatisfy { !$0.isUpgraded })
    }
  }

  @Test func `of an upgrade that cancelled the earlier purchase, as until 2018, is one`() throws {
    let replaced = Bench.row("1001", 20, 50, ["cancellation_date_ms": Bench.ms(30)])
    let body = Bench.v1("INTERACTIVE_RENEWAL", [replaced, Bench.row("1002", "yearly", 30, 395)])
    #expect(try Bench.legacy(body).findings.events.map(named) == ["DID_CHANGE_RENEWAL_PREF/UPGRADE 30"])
  }

  @Test func `switching renewal on with an upgrade to something shorter is its companion`() throws {
    let body = Bench.v1(
      "DID_CHANGE_RENEWAL_STATUS", [Bench.row("1001", "yearly", 0, 365), Bench.row("1002", 30, 60)], [:],
      ["auto_renew_status": "true", "auto_renew_status_change_date_ms": Bench.ms(30)])
    #expect(try Bench.legacy(body).findings.events.isEmpty)
  }

  /// Finished consumables leave the receipt: the row that the refund is about need not be there.
  @Test func `of a refund whose row has left the receipt is not told of another purchase`() throws {
    let earlier = Bench.row("1000", 0, 30, ["cancellation_date_ms": Bench.ms(10)])
    let body = Bench.v1("REFUND", [earlier, Bench.row("1001", 30, 60)], [:], ["original_transaction_id": 2000])
    let findings = try Bench.legacy(body).findings
    #expect(findings.events.map(\.notificationType) == ["REFUND"])
    #expect(findings.events.map(\.originalTransactionID) == ["2000"] && findings.events.first?.line == nil)
    #expect(findings.events.first?.date != Bench.day(10), "that would be the earlier refund told again")
  }

  @Test func `of a refund is not of what an upgrade cancelled`() throws {
    let upgraded = Bench.row("1001", 20, 50, ["is_upgraded": "true", "cancellation_date_ms": Bench.ms(40)])
    let coins = HappeningFixture.coins(["cancellation_date_ms": Bench.ms(36)])
    let findings = try Bench.legacy(Bench.v1("REFUND", [upgraded, coins])).findings
    #expect(findings.events.map(named) == ["REFUND 36"] && findings.events.first?.originalTransactionID == "2000")
  }

  /// The period's end is past when the body is tried again, and was to come when it was said.
  @Test func `that arrives late and without a receipt is as of what it tells, not of an end since`() throws {
    let line = "91000"
    let cancel = Bench.v1(
      "CANCEL", [Bench.row("1000", 30, 37)], [:],
      ["web_order_line_item_id": .string(line), "cancellation_date_ms": Bench.ms(35)])
    let late = try Bench.legacy(cancel, at: Bench.day(38)).findings
    #expect(late.purchases.map(\.rank.asOf) == [Bench.day(35)])
    var reversed = try #require(late.purchases.first)
    reversed.source = .signedV2
    reversed.rank.asOf = Bench.day(36)
    reversed.facts = Facts(json: Bench.with(reversed.facts.json, "revocationDate", nil))
    let purchases = Purchase.fold(late.purchases + [reversed], rules: Vocabulary.embedded.purchases.rules)
    #expect(purchases.map(\.revocationDate) == [nil])
  }

  @Test func `that tells of an end is as of it`() throws {
    let told: [JSONObject] = [
      Bench.v1("DID_FAIL_TO_RENEW", [Bench.row("1000", 0, 30)]),
      Bench.v1("NEW_THING", [Bench.row("1000", 0, 30)], ["expiration_intent": "1"]),
      Bench.v1("NEW_THING", [Bench.row("1000", 0, 30)], ["grace_period_expires_date_ms": Bench.ms(46)]),
      Bench.v1("NEW_THING", [Bench.row("1000", 0, 30)], [:], ["expiration_intent": 2]),
    ]
    for body in told { #expect(try Bench.legacy(body).findings.purchases.map(\.rank.asOf) == [Bench.day(30)]) }
    let running = Bench.v1("NEW_THING", [Bench.row("1000", 0, 30)])
    #expect(try Bench.legacy(running).findings.purchases.map(\.rank.asOf) == [Bench.day(0)])
  }

  @Test func `whose parts are of two apps is refused`() throws {
    let flat: JSONValue = .object(Bench.row("1000", 0, 30, ["bid": "com.example.other"]))
    let refusal = #expect(throws: MessageError.self) {
      let reading = try Bench.legacy(Bench.v1("DID_RENEW", [], [:], ["latest_receipt_info": flat]))
      return reading
    }
    #expect(refusal?.code == "wrongBundle" && refusal?.claimedApp == "com.example.other")
  }

  @Test func `of a refund names its row, and leaves the newer one alone`() throws {
    let body = Bench.v1(
      "CANCEL", [Bench.row("1002", 30, 60), Bench.row("1001", 0, 30)], [:],
      ["web_order_line_item_id": "91001", "cancellation_date_ms": Bench.ms(35), "auto_renew_status": "true"])
    let findings = try Bench.legacy(body).findings
    let refunded = try #require(findings.purchases.first { $0.key.line.text == "91001" })
    #expect(refunded.facts.date(.revocationDate) == Bench.day(35))
    let standing = try #require(findings.purchases.first { $0.key.line.text == "91002" })
    #expect(standing.facts[.revocationDate] == nil)
    #expect(findings.events.first?.line?.text == "91001" && findings.events.first?.transactionID == "1001")
  }

  @Test func `of a refund whose row is missing still takes it back`() throws {
    let body = Bench.v1(
      "CANCEL", [Bench.row("1002", 30, 60)], [:],
      ["web_order_line_item_id": "95555", "cancellation_date_ms": Bench.ms(35)])
    let findings = try Bench.legacy(body).findings
    let refunded = try #require(findings.purchases.first { $0.key.line.text == "95555" })
    #expect(refunded.key.originalTransactionID == "1000")
    #expect(refunded.facts.date(.revocationDate) == Bench.day(35))
    #expect(findings.events.map(named) == ["REFUND 35"])
  }

  @Test func `of an upgrade takes nothing back`() throws {
    let row = Bench.row(
      "1001", 20, 50, ["is_upgraded": "true", "cancellation_date_ms": Bench.ms(30), "cancellation_reason": "0"])
    let facts = try #require(try Bench.legacy(Bench.v1("DID_RENEW", [row])).findings.purchases.first?.facts)
    #expect(facts.flag(.isUpgraded) == true && !facts.isInferred(.isUpgraded))
    #expect(facts[.revocationDate] == nil && facts[.revocationReason] == nil)
  }
}

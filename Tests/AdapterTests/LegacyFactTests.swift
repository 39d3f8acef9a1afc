/// A row of a table of fields and a value of which it makes a fact.
struct FactFixture: CustomTestStringConvertible, Sendable {
  let rule: String
  let row: JSONObject
  let field: String
  let value: JSONValue

  init(_ rule: String, _ row: JSONObject, _ field: String, _ value: JSONValue) {
    self.rule = rule
    self.row = row
    self.field = field
    self.value = value
  }

  var testDescription: String { rule }

  private static let instant: JSONValue = .integer(1_606_293_062_000)

  static let purchases: [Self] = [
    Self("L-001", ["transaction_id": 1000], "transactionId", "1000"),
    Self("L-002", ["original_transaction_id": "77"], "originalTransactionId", "77"),
    Self("L-003", ["web_order_line_item_id": "90000000001"], "webOrderLineItemId", "90000000001"),
    Self("L-004", ["product_id": "p"], "productId", "p"),
    Self("L-005", ["subscription_group_identifier": "21"], "subscriptionGroupIdentifier", "21"),
    Self("L-006", ["quantity": "3"], "quantity", 3),
    Self("L-007", ["purchase_date_ms": "1606293062000"], "purchaseDate", instant),
    Self("L-008", ["original_purchase_date": "2020-11-25 08:31:02 Etc/GMT"], "originalPurchaseDate", instant),
    Self("L-009", ["expires_date": "1606293062000"], "expiresDate", instant),
    Self("L-010", ["is_upgraded": "true"], "isUpgraded", true),
    Self(
      "L-011", ["cancellation_date_pst": "2020-11-25 00:31:02 America/Los_Angeles"], "revocationDate", instant),
    Self("L-012", ["cancellation_reason": "1"], "revocationReason", 1),
    Self("L-013", ["in_app_ownership_type": "FAMILY_SHARED"], "inAppOwnershipType", "FAMILY_SHARED"),
    Self(
      "L-014", ["app_account_token": "7e3fb204-2d2f-4d9c-9d0a-0a5a3b1e9c11"], "appAccountToken",
      "7e3fb204-2d2f-4d9c-9d0a-0a5a3b1e9c11"),
    Self("L-015", ["is_trial_period": "true"], "offerType", 1),
    Self("L-016", ["is_trial_period": "true"], "offerDiscountType", "FREE_TRIAL"),
    Self("L-017", ["is_in_intro_offer_period": "true"], "offerType", 1),
    Self("L-018", ["is_trial_period": "true", "promotional_offer_id": "spring"], "offerType", 2),
    Self("L-019", ["promotional_offer_id": "spring"], "offerIdentifier", "spring"),
    Self("L-020", ["offer_code_ref_name": "code", "is_trial_period": "true"], "offerType", 3),
    Self("L-021", ["offer_code_ref_name": "code"], "offerIdentifier", "code"),
  ]

  static let renewals: [Self] = [
    Self("Q-001", ["original_transaction_id": "1000"], "originalTransactionId", "1000"),
    Self("Q-002", ["product_id": "p"], "productId", "p"),
    Self("Q-003", ["auto_renew_product_id": "q"], "autoRenewProductId", "q"),
    Self("Q-004", ["auto_renew_status": "0"], "autoRenewStatus", 0),
    Self("Q-005", ["expiration_intent": "2"], "expirationIntent", 2),
    Self("Q-006", ["is_in_billing_retry_period": "1"], "isInBillingRetryPeriod", true),
    Self("Q-007", ["grace_period_expires_date_ms": "1606293062000"], "gracePeriodExpiresDate", instant),
    Self("Q-008", ["price_increase_status": "1", "price_consent_status": "0"], "priceIncreaseStatus", 1),
    Self("Q-009", ["price_consent_status": "0"], "priceIncreaseStatus", 0),
    Self("Q-010", ["promotional_offer_id": "spring"], "offerType", 2),
    Self("Q-011", ["promotional_offer_id": "spring"], "offerIdentifier", "spring"),
    Self("Q-012", ["offer_code_ref_name": "code"], "offerType", 3),
    Self("Q-013", ["offer_code_ref_name": "code"], "offerIdentifier", "code"),
  ]
}

@Suite struct `What V1 says` {
  private let vocabulary = Vocabulary.embedded

  @Test func `has a fixture for every row of the tables, and every fixture a row`() {
    #expect(FactFixture.purchases.map(\.rule) == vocabulary.legacyPurchases.rows.map(\.id))
    #expect(FactFixture.renewals.map(\.rule) == vocabulary.legacyRenewals.rows.map(\.id))
    #expect(Set(Self.suppositions.map(\.rule)) == Set(vocabulary.inferences.rows.map(\.id)))
  }

  @Test(arguments: FactFixture.purchases)
  func `of a purchase is a fact by its row`(fixture: FactFixture) throws {
    var row: JSONObject = ["transaction_id": "1", "product_id": "x"]
    for member in fixture.row { row[member.key] = member.value }
    let facts = try #require(try Bench.legacy(Bench.v1("DID_RENEW", [row])).findings.purchases.first?.facts)
    let field = try #require(PurchaseField(name: fixture.field))
    #expect(facts[field] == fixture.value && !facts.isInferred(field))
    #expect(vocabulary.rules(behind: field, of: facts, from: .notificationV1).contains(fixture.rule))
  }

  @Test(arguments: FactFixture.renewals)
  func `of a renewal is a fact by its row`(fixture: FactFixture) throws {
    let findings = try Bench.legacy(Bench.v1("DID_RENEW", [], fixture.row)).findings
    let facts = try #require(findings.renewals.first?.facts)
    let field = try #require(RenewalField(name: fixture.field))
    #expect(facts[field] == fixture.value)
    #expect(vocabulary.rules(behind: field, of: facts, from: .notificationV1).contains(fixture.rule))
  }

  @Test func `at the top counts where no element tells of the subscription`() throws {
    var body = Bench.v1(
      "DID_FAIL_TO_RENEW", [Bench.row("1000", 0, 30)], [:],
      [
        "auto_renew_status": "false", "expiration_intent": 2, "auto_renew_product_id": "monthly",
      ])
    let unified = try #require(body["unified_receipt"]?.object)
    body["unified_receipt"] = .object(Bench.with(unified, "pending_renewal_info", nil))
    let facts = try #require(try Bench.legacy(body).findings.renewals.first?.facts)
    #expect(facts.integer(.autoRenewStatus) == 0 && facts.integer(.expirationIntent) == 2)
    #expect(facts.text(.originalTransactionId) == "1000" && facts.text(.autoRenewProductId) == "monthly")
  }

  /// Which row of which body, the supposed field and value.
  static let suppositions: [(rule: String, rows: [JSONObject], line: String, field: PurchaseField, value: JSONValue)] =
    [
      ("I-001", [Bench.row("1000", 0, 30)], "91000", .type, "Auto-Renewable Subscription"),
      ("I-002", [Bench.row("1000", 0, 30)], "91000", .inAppOwnershipType, "PURCHASED"),
      ("I-003", [Bench.row("1000", 0, 30)], "91000", .transactionReason, "PURCHASE"),
      (
        "I-004", [Bench.with(HappeningFixture.coins([:]), "transaction_id", "2001")], "", .transactionReason, "PURCHASE"
      ),
      (
        "I-005", [Bench.row("1001", 0, 30, ["is_upgraded": "true"]), Bench.row("1002", "yearly", 10, 40)], "91002",
        .transactionReason, "PURCHASE"
      ),
      (
        "I-006", [Bench.row("1001", -100, -70), Bench.row("1002", 0, 30)], "91002", .transactionReason, "PURCHASE"
      ),
      ("I-007", [Bench.row("1001", 0, 30), Bench.row("1002", 30, 60)], "91002", .transactionReason, "RENEWAL"),
      (
        "I-008", [Bench.row("1001", 20, 50), Bench.row("1002", "yearly", 30, 390)], "91001", .isUpgraded, true
      ),
    ]

  @Test func `and lets be supposed is marked so, by its row`() throws {
    for fixture in Self.suppositions {
      let findings = try Bench.legacy(Bench.v1("INTERACTIVE_RENEWAL", fixture.rows)).findings
      let purchases = Purchase.fold(findings.purchases, rules: vocabulary.purchases.rules)
      let facts = try #require(purchases.first { $0.key.line.text == fixture.line }?.facts, "\(fixture.rule)")
      #expect(facts[fixture.field] == fixture.value && facts.isInferred(fixture.field), "\(fixture.rule)")
      let rules = vocabulary.rules(behind: fixture.field, of: facts, from: .notificationV1)
      #expect(rules.contains(fixture.rule), "\(fixture.rule)")
    }
  }

  @Test func `names the rows behind every fact of every source`() throws {
    let v1 = try Bench.legacy(Bench.v1("DID_RENEW", [Bench.row("1000", 0, 30), Bench.row("1001", 30, 60)])).findings
    let v2 = try Bench.read(Bench.payload(Bench.data(Bench.transaction, Bench.renewal))).findings
    for statement in v1.purchases + v2.purchases {
      for (field, _) in statement.facts.known {
        #expect(!vocabulary.rules(behind: field, of: statement.facts, from: statement.source).isEmpty, "\(field)")
      }
    }
    for statement in v1.renewals + v2.renewals {
      for (field, _) in statement.facts.known {
        #expect(!vocabulary.rules(behind: field, of: statement.facts, from: statement.source).isEmpty, "\(field)")
      }
    }
    #expect(vocabulary.rules(behind: .price, of: Facts(), from: .signedV2).isEmpty)
  }
}

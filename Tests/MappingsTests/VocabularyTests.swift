@Suite struct `What this build believes` {
  private let vocabulary = Vocabulary.embedded

  @Test func `loads, each id in one table once`() throws {
    let vocabulary = try Vocabulary()
    let ids =
      vocabulary.events.rows.map(\.id) + PurchaseField.allCases.map { vocabulary.purchases.rules[$0].id }
      + RenewalField.allCases.map { vocabulary.renewals.rules[$0].id }
      + AppTransactionField.allCases.map { vocabulary.appTransactions.rules[$0].id }
      + vocabulary.receipts.rows.map(\.id) + vocabulary.legacyPurchases.rows.map(\.id)
      + vocabulary.legacyRenewals.rows.map(\.id) + vocabulary.legacyStatuses.answers.map(\.id)
      + vocabulary.legacyStatuses.subscriptions.map(\.id) + vocabulary.legacyEvents.rows.map(\.id)
      + vocabulary.eventsToLegacy.rows.map(\.id) + vocabulary.inferences.rows.map(\.id)
      + vocabulary.withoutCounterpart.rows.map(\.id) + vocabulary.endpoints.rows.map(\.id)
      + vocabulary.apiErrors.rows.map(\.id) + vocabulary.answerFields.rows.map(\.id)
      + vocabulary.answerRules.rows.map(\.id) + vocabulary.answerChecks.rows.map(\.id)
      + vocabulary.differences.rows.map(\.id)
    #expect(Set(ids).count == ids.count)
    let letters = Dictionary(grouping: ids, by: \.first)
    #expect(
      letters.mapValues(\.count) == [
        "N": 42, "T": 31, "R": 22, "A": 8, "P": 17, "L": 21, "Q": 13, "S": 18, "V": 29, "W": 47, "I": 8, "X": 93,
        "C": 32, "E": 87, "F": 84, "Y": 48, "K": 29, "D": 31,
      ])
  }

  /// Apple's notificationType and subtype, each with those that go with it ("-": none).
  private static let documented: [(type: String, subtypes: String)] = [
    ("SUBSCRIBED", "INITIAL_BUY RESUBSCRIBE"), ("DID_CHANGE_RENEWAL_PREF", "UPGRADE DOWNGRADE -"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED AUTO_RENEW_DISABLED -"),
    ("OFFER_REDEEMED", "INITIAL_BUY RESUBSCRIBE UPGRADE DOWNGRADE -"), ("DID_RENEW", "BILLING_RECOVERY -"),
    ("EXPIRED", "VOLUNTARY BILLING_RETRY PRICE_INCREASE PRODUCT_NOT_FOR_SALE -"),
    ("DID_FAIL_TO_RENEW", "GRACE_PERIOD -"), ("GRACE_PERIOD_EXPIRED", "-"), ("PRICE_INCREASE", "PENDING ACCEPTED"),
    ("REFUND", "-"), ("REFUND_DECLINED", "-"), ("CONSUMPTION_REQUEST", "-"), ("RENEWAL_EXTENDED", "-"), ("REVOKE", "-"),
    ("TEST", "-"), ("RENEWAL_EXTENSION", "SUMMARY FAILURE"), ("REFUND_REVERSED", "-"),
    ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED CREATED ACTIVE_TOKEN_REMINDER"), ("ONE_TIME_CHARGE", "-"),
    ("RESCIND_CONSENT", "-"), ("METADATA_UPDATE", "-"), ("MIGRATION", "-"), ("PRICE_CHANGE", "-"),
  ]

  @Test func `has a row for every notification that Apple documents, and no other`() throws {
    var count = 0
    for (type, subtypes) in Self.documented {
      for subtype in subtypes.split(separator: " ").map(String.init) {
        #expect(vocabulary.events[type, subtype == "-" ? nil : subtype] != nil, "\(type) \(subtype)")
        count += 1
      }
    }
    #expect(vocabulary.events.rows.count == count)
    #expect(vocabulary.events["SUBSCRIBED", nil] == nil)
    #expect(vocabulary.events["test", nil] == nil)
  }

  @Test func `covers exactly the words that the wire documents`() {
    func words(_ field: String) -> Set<String> {
      guard case .word(let words)? = NotificationPayload.schema.fields[field] else { return [] }
      return words
    }
    #expect(Set(Self.documented.map(\.type)) == words("notificationType"))
    let subtypes = Self.documented.flatMap { $0.subtypes.split(separator: " ").map(String.init) }
    #expect(Set(subtypes).subtracting(["-"]) == words("subtype"))
  }

  @Test(
    arguments: [
      ("SUBSCRIBED", "INITIAL_BUY", .purchase), ("DID_RENEW", nil, .purchase),
      ("DID_RENEW", "BILLING_RECOVERY", .purchase),
      ("ONE_TIME_CHARGE", nil, .purchase), ("REFUND", nil, .revocation), ("REVOKE", nil, .revocation),
      ("EXPIRED", "VOLUNTARY", .expiry), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", .expiry),
      ("REFUND_REVERSED", nil, .signed),
      ("TEST", nil, .signed), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", .signed),
    ] as [(String, String?, EventTable.Moment)])
  func `knows when an event happened`(type: String, subtype: String?, moment: EventTable.Moment) {
    #expect(vocabulary.events[type, subtype]?.moment == moment)
  }

  @Test func `makes of every field of a payload a fact or an envelope, and the other way round`() {
    hold(vocabulary.purchases, to: TransactionPayload.schema)
    hold(vocabulary.renewals, to: RenewalPayload.schema)
    hold(vocabulary.appTransactions, to: AppTransactionPayload.schema)
  }

  private func hold<Field: FactField>(_ table: FieldTable<Field>, to schema: Schema) {
    for (name, kind) in schema.fields {
      guard let field = Field(name: name) else {
        #expect(table.envelope.contains(name), "\(name)")
        continue
      }
      #expect(field.name == name)
      #expect(!table.envelope.contains(name), "\(name)")
      #expect(field.kind == kind.factKind, "\(name)")
    }
    for field in Field.allCases {
      #expect(schema.fields[field.name] != nil, "\(field.name)")
      #expect(Field(name: field.name) == field)
    }
    for name in table.envelope { #expect(schema.fields[name] != nil, "\(name)") }
    #expect(Field(name: "deviceVerification") == nil)
  }

  @Test func `lets nothing but signed silence clear what may be taken back`() {
    let speaking = PurchaseField.allCases.filter { vocabulary.purchases.rules[$0].absence == .speaks }
    #expect(
      Set(speaking) == [.revocationDate, .revocationReason, .revocationType, .revocationPercentage, .isUpgraded])
    for field in [
      RenewalField.gracePeriodExpiresDate, .isInBillingRetryPeriod, .expirationIntent, .priceIncreaseStatus,
    ] {
      #expect(vocabulary.renewals.rules[field].absence == .speaks)
    }
  }

  @Test func `gives unverified receipts no vote on revocation, expiry and ownership, and everybody else every vote`() {
    let purchases = PurchaseField.allCases.filter { !vocabulary.purchases.rules[$0].silenced.isEmpty }
    #expect(
      Set(purchases) == [
        .revocationDate, .revocationReason, .revocationType, .revocationPercentage, .isUpgraded, .expiresDate,
        .inAppOwnershipType,
      ])
    let renewals = RenewalField.allCases.filter { !vocabulary.renewals.rules[$0].silenced.isEmpty }
    #expect(renewals == [.gracePeriodExpiresDate])
    for field in purchases { #expect(vocabulary.purchases.rules[field].silenced == [.unverifiedReceipt]) }
    for field in renewals { #expect(vocabulary.renewals.rules[field].silenced == [.unverifiedReceipt]) }
  }
}

extension Schema.Kind {
  fileprivate var factKind: FactKind {
    switch self {
    case .text, .word: .text
    case .integer, .code: .integer
    case .flag: .flag
    case .date: .date
    case .texts, .structure, .opaque, .structures, .rows: .structure
    case .loose(let loose):
      switch loose {
      case .text, .word: .text
      case .integer, .code: .integer
      case .flag: .flag
      case .date: .date
      }
    }
  }
}

@Suite struct `The tables of the old generation` {
  private let vocabulary = Vocabulary.embedded

  private func words(_ schema: Schema, _ field: String) -> Set<String> {
    switch schema.fields[field] {
    case .word(let words), .loose(.word(let words)): words
    default: []
    }
  }

  /// A written date goes with its milliseconds.
  private func names(_ schema: Schema) -> Set<String> {
    Set(
      schema.fields.keys.map { name in
        for ending in ["_formatted_pst", "_formatted", "_pst", "_ms"] where name.hasSuffix(ending) {
          return String(name.dropLast(ending.count))
        }
        return name
      })
  }

  @Test func `know every V1 notification that Apple documented, and no other`() {
    #expect(
      Set(vocabulary.legacyEvents.rows.map(\.typeV1)) == words(V1NotificationBody.schema, "notification_type"))
    #expect(
      Set(vocabulary.eventsToLegacy.rows.flatMap(\.typesV1)).subtracting(["RENEWAL"])
        == words(V1NotificationBody.schema, "notification_type").subtracting(["RENEWAL"]))
  }

  @Test func `use every condition and moment that they may`() {
    #expect(Set(vocabulary.legacyEvents.rows.map(\.condition)) == Set(V1EventTable.Condition.allCases))
    #expect(
      Set(vocabulary.legacyEvents.rows.compactMap(\.event?.moment)) == Set(V1EventTable.Moment.allCases))
    #expect(Set(vocabulary.eventsToLegacy.rows.map(\.condition)) == Set(EventToV1Table.Condition.allCases))
    #expect(
      Set(vocabulary.eventsToLegacy.rows.compactMap(\.autoRenewStatus))
        == Set(EventToV1Table.AutoRenewStatus.allCases))
    #expect(
      Set(vocabulary.legacyStatuses.subscriptions.map(\.condition)) == Set(VerifyReceiptStatusTable.Condition.allCases))
    #expect(Set(vocabulary.legacyStatuses.answers.map(\.retry)) == Set(VerifyReceiptStatusTable.Retry.allCases))
    #expect(
      Set(vocabulary.withoutCounterpart.rows.map(\.subject)) == Set(WithoutCounterpartTable.Subject.allCases))
    let forms =
      Set(vocabulary.legacyPurchases.rows.map(\.form.rawValue))
      .union(vocabulary.legacyRenewals.rows.map(\.form.rawValue))
    #expect(forms == Set(V1FieldTable<PurchaseField>.Form.allCases.map(\.rawValue)))
  }

  @Test func `have every key of V1 in a row or without counterpart`() {
    let lost = vocabulary.withoutCounterpart
    let purchases = Set(vocabulary.legacyPurchases.rows.map(\.key))
    #expect(names(V1TransactionRow.schema) == purchases.union(lost.names(.v1, .row)))
    #expect(purchases.isDisjoint(with: lost.names(.v1, .row)))
    let renewals = Set(vocabulary.legacyRenewals.rows.map(\.key))
    #expect(names(PendingRenewalInfo.schema) == renewals)
    let top = Set(vocabulary.legacyRenewals.rows.compactMap(\.top))
    #expect(
      names(V1NotificationBody.schema)
        == lost.names(.v1, .notification).union(top.subtracting(["is_in_billing_retry_period"])))
    #expect(
      names(VerifyReceiptResponse.schema).union(names(VerifyReceiptResponse.flatSchema)) == lost.names(.v1, .answer))
    #expect(names(DecodedReceipt.schema) == lost.names(.v1, .receipt))
    #expect(names(UnifiedReceipt.schema) == lost.names(.v1, .unified))
    #expect(names(VerifyReceiptRequest.schema) == lost.names(.v1, .request))
  }

  @Test func `have every field of V2 in a row or without counterpart`() {
    let lost = vocabulary.withoutCounterpart
    // What only an inference fills is lost on the way back all the same; offerDiscountType is told of trials alone.
    let purchases = Set(vocabulary.legacyPurchases.rows.map(\.field.name))
    #expect(Set(TransactionPayload.schema.fields.keys) == purchases.union(lost.names(.v2, .transaction)))
    #expect(purchases.isDisjoint(with: lost.names(.v2, .transaction)))
    let renewals = Set(vocabulary.legacyRenewals.rows.map(\.field.name))
    #expect(Set(RenewalPayload.schema.fields.keys) == renewals.union(lost.names(.v2, .renewal)))
    #expect(renewals.isDisjoint(with: lost.names(.v2, .renewal)))
    #expect(lost.names(.v2, .environment).isSubset(of: words(TransactionPayload.schema, "environment")))
    #expect(lost.names(.v2, .offerType) == ["4"])
  }

  /// V2's words, each with what V1 says: the fixtures of `v2-events-to-v1.tsv`.
  private static let backwards: [(id: String, event: String, condition: String, v1: String)] = [
    ("W-001", "SUBSCRIBED/INITIAL_BUY", "purchased", "INITIAL_BUY"),
    ("W-002", "SUBSCRIBED/INITIAL_BUY", "familyShared", ""),
    ("W-003", "SUBSCRIBED/RESUBSCRIBE", "purchased", "INTERACTIVE_RENEWAL DID_CHANGE_RENEWAL_STATUS(true)"),
    ("W-004", "SUBSCRIBED/RESUBSCRIBE", "familyShared", ""),
    ("W-005", "OFFER_REDEEMED/INITIAL_BUY", "always", "INITIAL_BUY"),
    ("W-006", "OFFER_REDEEMED/RESUBSCRIBE", "always", "INTERACTIVE_RENEWAL DID_CHANGE_RENEWAL_STATUS(true)"),
    ("W-007", "OFFER_REDEEMED/UPGRADE", "always", "INTERACTIVE_RENEWAL DID_CHANGE_RENEWAL_STATUS(true)"),
    ("W-008", "OFFER_REDEEMED/DOWNGRADE", "always", "DID_CHANGE_RENEWAL_PREF"),
    ("W-009", "OFFER_REDEEMED", "always", "INTERACTIVE_RENEWAL"),
    ("W-010", "DID_CHANGE_RENEWAL_PREF/UPGRADE", "always", "INTERACTIVE_RENEWAL DID_CHANGE_RENEWAL_STATUS(true)"),
    ("W-011", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "always", "DID_CHANGE_RENEWAL_PREF"),
    ("W-012", "DID_CHANGE_RENEWAL_PREF", "always", "DID_CHANGE_RENEWAL_PREF"),
    ("W-013", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "always", "DID_CHANGE_RENEWAL_STATUS(true)"),
    ("W-014", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "always", "DID_CHANGE_RENEWAL_STATUS(false)"),
    ("W-015", "DID_CHANGE_RENEWAL_STATUS", "always", "DID_CHANGE_RENEWAL_STATUS(renewal)"),
    ("W-016", "DID_RENEW", "always", "DID_RENEW"), ("W-017", "DID_RENEW/BILLING_RECOVERY", "always", "DID_RECOVER"),
    ("W-018", "DID_FAIL_TO_RENEW", "always", "DID_FAIL_TO_RENEW"),
    ("W-019", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "always", "DID_FAIL_TO_RENEW"),
    ("W-020", "GRACE_PERIOD_EXPIRED", "always", ""),
    ("W-021", "EXPIRED/BILLING_RETRY", "always", "DID_CHANGE_RENEWAL_STATUS(false)"),
    ("W-022", "EXPIRED/VOLUNTARY", "always", ""), ("W-023", "EXPIRED/PRICE_INCREASE", "always", ""),
    ("W-024", "EXPIRED/PRODUCT_NOT_FOR_SALE", "always", ""), ("W-025", "EXPIRED", "always", ""),
    ("W-026", "PRICE_INCREASE/PENDING", "purchased", "PRICE_INCREASE_CONSENT"),
    ("W-027", "PRICE_INCREASE/PENDING", "familyShared", ""), ("W-028", "PRICE_INCREASE/ACCEPTED", "always", ""),
    ("W-029", "REFUND", "subscription", "CANCEL"), ("W-030", "REFUND", "otherProduct", "REFUND"),
    ("W-031", "REVOKE", "always", "REVOKE"), ("W-032", "CONSUMPTION_REQUEST", "consumable", "CONSUMPTION_REQUEST"),
    ("W-033", "CONSUMPTION_REQUEST", "notConsumable", ""), ("W-034", "REFUND_DECLINED", "always", ""),
    ("W-035", "REFUND_REVERSED", "always", ""), ("W-036", "RENEWAL_EXTENDED", "always", ""),
    ("W-037", "RENEWAL_EXTENSION/SUMMARY", "always", ""), ("W-038", "RENEWAL_EXTENSION/FAILURE", "always", ""),
    ("W-039", "ONE_TIME_CHARGE", "always", ""), ("W-040", "EXTERNAL_PURCHASE_TOKEN/UNREPORTED", "always", ""),
    ("W-041", "EXTERNAL_PURCHASE_TOKEN/CREATED", "always", ""),
    ("W-042", "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER", "always", ""), ("W-043", "TEST", "always", ""),
    ("W-044", "RESCIND_CONSENT", "always", ""), ("W-045", "METADATA_UPDATE", "always", ""),
    ("W-046", "MIGRATION", "always", ""), ("W-047", "PRICE_CHANGE", "always", ""),
  ]

  @Test func `have a fixture for every row of the way back, and every fixture a row`() throws {
    #expect(Self.backwards.map(\.id) == vocabulary.eventsToLegacy.rows.map(\.id))
    for fixture in Self.backwards {
      let words = fixture.event.split(separator: "/").map(String.init)
      let rows = vocabulary.eventsToLegacy[words[0], words.count > 1 ? words[1] : nil]
      let row = try #require(rows.first { $0.condition.rawValue == fixture.condition }, "\(fixture.id)")
      let told = row.typesV1.map { type in
        let status = type == "DID_CHANGE_RENEWAL_STATUS" ? row.autoRenewStatus : nil
        return status.map { "\(type)(\($0.rawValue))" } ?? type
      }
      #expect(row.id == fixture.id && told.joined(separator: " ") == fixture.v1, "\(fixture.id)")
    }
  }

  @Test func `know a way back, or none, for every V2 notification, and one condition always holds`() {
    let pairs: Set<Set<EventToV1Table.Condition>> = [
      [.always], [.purchased, .familyShared], [.subscription, .otherProduct], [.consumable, .notConsumable],
    ]
    for event in vocabulary.events.rows {
      let rows = vocabulary.eventsToLegacy[event.notificationType, event.subtype]
      #expect(pairs.contains(Set(rows.map(\.condition))), "\(event.id)")
    }
    let known = Set(vocabulary.events.rows.map { "\($0.notificationType)/\($0.subtype ?? "")" })
    #expect(Set(vocabulary.eventsToLegacy.rows.map { "\($0.notificationType)/\($0.subtype ?? "")" }) == known)
  }

  @Test func `give each V1 notification a V2 one that there is`() {
    for row in vocabulary.legacyEvents.rows {
      guard let event = row.event else { continue }
      #expect(vocabulary.events[event.notificationType, event.subtype] != nil, "\(row.id)")
    }
  }

  @Test func `know every documented status`() {
    let documented = [0] + Array(Int64(21000)...21010) + Array(21100...21199)
    for status in documented { #expect(vocabulary.legacyStatuses[status] != nil, "\(status)") }
    for status: Int64 in [-1, 1, 20999, 21011, 21099, 21200] {
      #expect(vocabulary.legacyStatuses[status] == nil, "\(status)")
    }
    #expect(vocabulary.legacyStatuses.answers.filter(\.holdsData).map(\.codes) == [0...0, 21006...21006])
    for (condition, status) in [
      (VerifyReceiptStatusTable.Condition.runs, 1), (.ended, 2), (.retries, 3), (.inGracePeriod, 4), (.cancelled, 5),
    ] as [(VerifyReceiptStatusTable.Condition, Int64)] {
      #expect(vocabulary.legacyStatuses[condition]?.status == status)
    }
  }

  private func bytes(_ columns: String, _ rows: [String]) -> [UInt8] {
    Array(([columns] + rows).map { $0.replacing(" ", with: "\t") }.joined(separator: "\n").utf8)
  }

  @Test(
    arguments: [
      (["L-900 k unheardOf text"], .unknownWord(row: "L-900", column: "field")),
      (["L-900 k productId upsideDown"], .unknownWord(row: "L-900", column: "form")),
      (["L-900 k productId text", "L-901 k productId text"], .repeatedRow("L-901")),
    ] as [([String], Table.Malformed)])
  func `of fields are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) {
      try V1FieldTable<PurchaseField>(bytes("id key field form", rows), hasTop: false)
    }
  }

  @Test(
    arguments: [
      (["V-900 A sometimes B C signed"], .unknownWord(row: "V-900", column: "condition")),
      (["V-900 A always B C signed"], .unknownWord(row: "V-900", column: "date")),
      (["V-900 A always - C -"], .unknownWord(row: "V-900", column: "date")),
      (["V-900 A always B - asOf", "V-901 A always C - asOf"], .repeatedRow("V-901")),
    ] as [([String], Table.Malformed)])
  func `of events are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) {
      try V1EventTable(bytes("id notificationTypeV1 condition notificationType subtype date", rows))
    }
  }

  @Test(
    arguments: [
      (["W-900 A B sometimes C -"], .unknownWord(row: "W-900", column: "condition")),
      (["W-900 A B always C maybe"], .unknownWord(row: "W-900", column: "autoRenewStatus")),
      (["W-900 A B always C -", "W-901 A B always D -"], .repeatedRow("W-901")),
    ] as [([String], Table.Malformed)])
  func `of the way back are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) {
      try EventToV1Table(
        bytes("id notificationType subtype condition notificationTypesV1 autoRenewStatus", rows))
    }
  }

  @Test(
    arguments: [
      (["S-900 dream 1 yes no - m a"], .unknownWord(row: "S-900", column: "kind")),
      (["S-900 verifyReceipt x yes no - m a"], .unknownWord(row: "S-900", column: "code")),
      (["S-900 verifyReceipt 9-1 yes no - m a"], .unknownWord(row: "S-900", column: "code")),
      (["S-900 verifyReceipt 1 perhaps no - m a"], .unknownWord(row: "S-900", column: "data")),
      (["S-900 verifyReceipt 1 yes perhaps - m a"], .unknownWord(row: "S-900", column: "retryable")),
      (["S-900 verifyReceipt 1 yes no - m a", "S-901 verifyReceipt 1-2 yes no - m a"], .repeatedRow("S-901")),
      (["S-900 subscription 1 - - dreams m a"], .unknownWord(row: "S-900", column: "condition")),
      (["S-900 subscription 1 - - runs m a", "S-901 subscription 1 - - ended m a"], .repeatedRow("S-901")),
    ] as [([String], Table.Malformed)])
  func `of statuses are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) {
      try VerifyReceiptStatusTable(bytes("id kind code data retryable condition meaning action", rows))
    }
  }

  @Test(
    arguments: [
      (["I-900 unheardOf x followsPrevious"], .unknownWord(row: "I-900", column: "field")),
      (["I-900 type x sometimes"], .unknownWord(row: "I-900", column: "condition")),
      (["I-900 isUpgraded maybe followsPrevious"], .unknownWord(row: "I-900", column: "value")),
      (["I-900 price 1 followsPrevious"], .unknownWord(row: "I-900", column: "value")),
      (["I-900 type x followsPrevious", "I-901 type y followsPrevious"], .repeatedRow("I-901")),
      (["I-900 type x followsPrevious"], .missingRow("hasSubscriptionMarks")),
    ] as [([String], Table.Malformed)])
  func `of inferences are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try InferenceTable(bytes("id field value condition", rows)) }
  }

  @Test(
    arguments: [
      (["X-900 v3 row a b"], .unknownWord(row: "X-900", column: "side")),
      (["X-900 v1 dream a b"], .unknownWord(row: "X-900", column: "what")),
      (["X-900 v1 row a b", "X-901 v1 row a c"], .repeatedRow("X-901")),
    ] as [([String], Table.Malformed)])
  func `without counterpart are refused with the reason`(rows: [String], reason: Table.Malformed) {
    #expect(throws: reason) { try WithoutCounterpartTable(bytes("id side what name why", rows)) }
  }
}

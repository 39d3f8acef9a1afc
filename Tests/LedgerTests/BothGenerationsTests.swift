/// V2 notifications and what V1 told of the same, both through the adapter and a real database.
@Suite struct `Both generations in a ledger` {
  private static let hour = Interval.hours(1)

  @Test(arguments: [true, false])
  func `tell of one happening once, and a late CANCEL undoes no reversal`(legacyFirst: Bool) async throws {
    let story = try SignedStory(customers: 2, periods: 2)
    let fixture = try await LedgerFixture()
    let signed = try story.messages.map { try story.entry($0, for: fixture.app) }
    // Customer 0's last refund was reversed, customer 1's stands; V1 repeats a renewal and both refunds.
    let legacy = try [
      legacyEntry("DID_RENEW", "20000001010", cancelled: false, story, fixture.app),
      legacyEntry("CANCEL", "20000001000", cancelled: true, story, fixture.app),
      legacyEntry("CANCEL", "20000001010", cancelled: true, story, fixture.app),
    ]
    for entry in legacyFirst ? legacy + signed : signed + legacy {
      let outcome = try await fixture.ledger.append([entry])
      #expect(outcome == [.stored])
    }
    let reversed = try await view(of: "20000001000", fixture)
    #expect(reversed.purchases.count == 2 && reversed.purchases.allSatisfy { $0.revocationDate == nil })
    let refunded = try await view(of: "20000001010", fixture)
    #expect(refunded.purchases.map { $0.revocationDate != nil } == [false, true])
    for (view, types) in [(reversed, ["REFUND"]), (refunded, ["DID_RENEW", "REFUND"])] {
      let retold = view.events.filter { Set($0.tellings.map(\.source)) == [.signedV2, .notificationV1] }
      #expect(Set(retold.map(\.event.notificationType)) == Set(types))
      #expect(view.events.filter { types.contains($0.event.notificationType) }.count == types.count)
      #expect(retold.allSatisfy { $0.event.source == .signedV2 })
    }
    await fixture.pool.close()
  }

  private func view(
    of original: String, _ fixture: LedgerFixture
  ) async throws -> (purchases: [Purchase], events: [MergedEvent]) {
    let dossiers = try await fixture.ledger.dossiers(of: original, app: fixture.app, extent: .purchases)
    let dossier = try #require(dossiers.first)
    let purchases = Purchase.fold(dossier.purchases, rules: Vocabulary.embedded.purchases.rules)
    return (purchases, MergedEvent.all(in: dossier.events, purchases: purchases))
  }

  /// The second period of `original` as V1 told of it.
  private func legacyEntry(
    _ type: String, _ original: String, cancelled: Bool, _ story: SignedStory, _ app: App
  ) throws -> LedgerEntry {
    let rows = (0..<2).reversed().map { period -> JSONValue in
      let purchased = SignedStory.start + .days(Int64(30 * period))
      var row: JSONObject = [
        "quantity": "1", "product_id": "group0.monthly", "transaction_id": .string("9\(period)\(original)"),
        "original_transaction_id": .string(original), "web_order_line_item_id": .string("9\(original)\(period)"),
        "purchase_date_ms": .string("\(purchased.sinceEpoch)"),
        "original_purchase_date_ms": .string("\(SignedStory.start.sinceEpoch)"),
        "expires_date_ms": .string("\((purchased + .days(30)).sinceEpoch)"), "is_trial_period": "false",
        "is_in_intro_offer_period": "false", "subscription_group_identifier": "21000",
      ]
      if cancelled, period == 1 {
        row["cancellation_date_ms"] = .string("\((purchased + Self.hour).sinceEpoch)")
        row["cancellation_reason"] = "0"
      }
      return .object(row)
    }
    let purchased = SignedStory.start + .days(30)
    var body: JSONObject = [
      "notification_type": .string(type), "environment": "Sandbox", "bid": .string(SignedStory.app), "bvrs": "1",
      "auto_renew_product_id": "group0.monthly", "auto_renew_status": "true",
      "unified_receipt": [
        "status": 0, "environment": "Sandbox", "latest_receipt_info": .array(rows),
        "pending_renewal_info": [
          [
            "product_id": "group0.monthly", "original_transaction_id": .string(original),
            "auto_renew_product_id": "group0.monthly", "auto_renew_status": "1",
          ]
        ],
      ],
    ]
    if cancelled {
      body["cancellation_date_ms"] = .string("\((purchased + Self.hour).sinceEpoch)")
      body["web_order_line_item_id"] = .string("9\(original)1")
    }
    // Days later, as a retry comes.
    let receivedAt = purchased + .days(3)
    let message = InboxMessage(kind: .notification, body: body.encoded(), receivedAt: receivedAt)
    let reading = try story.adapter.notification(
      message.body, message: message.digest,
      origin: V1Context(
        app: SignedStory.app, environment: .sandbox, trust: .sharedSecret, receivedAt: receivedAt), now: receivedAt)
    return LedgerEntry(
      message,
      .accepted(
        LedgerEntry.AcceptedMessage(
          app: app.id, findings: reading.findings, signedAt: reading.signedAt, title: reading.title)))
  }
}

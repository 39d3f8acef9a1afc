@Suite struct `A refunded period that would end later` {
  /// A year that was refunded hides nothing of the month that was bought after it.
  @Test func `does not keep the silence of the running one from being noticed`() throws {
    let (day, year): (Int64, Int64) = (86_400_000, 365 * 86_400_000)
    func period(_ line: String, from start: Int64, to end: Int64, revokedAt: Int64? = nil) -> PurchaseStatement {
      var values: [PurchaseField: JSONValue] = [
        .type: "Auto-Renewable Subscription", .purchaseDate: .integer(start), .expiresDate: .integer(end),
        .transactionId: .string(line),
      ]
      values[.revocationDate] = revokedAt.map(JSONValue.integer)
      return said(at: revokedAt ?? start, line: line, values)
    }
    let subscription = try #require(
      Subscription(
        key: SubscriptionKey(app: app, environment: .production, originalTransactionID: "1"),
        purchases: Purchase.fold(
          [period("1", from: 0, to: year, revokedAt: 30 * day), period("2", from: 60 * day, to: 90 * day)],
          rules: purchaseRules),
        renewal: Resolved([saidOfRenewal(at: 60 * day, [.autoRenewStatus: 1])], rules: renewalRules)))
    #expect(subscription.overdueRenewal(at: Timestamp(93 * day), allowing: .hours(1)) == .shouldHaveRenewed)
  }

  /// V1 tells the refund of a consumable without its row.
  @Test func `is told of once, whether a claim names its line or not`() {
    let refund = said(
      at: 1_000, line: "", [.type: "Consumable", .purchaseDate: 0, .transactionId: "1", .revocationDate: 500])
    for line in [nil, Line(text: "")] {
      let claim = Event(
        app: app, environment: .production, notificationUUID: nil, notificationType: "REFUND", subtype: nil,
        originalTransactionID: "1", transactionID: nil, line: line, date: Timestamp(500), source: .notificationV1,
        rank: Rank(asOf: Timestamp(500), tieBreak: [1]), details: [:], message: [1], rule: "V-027")
      let told = MergedEvent.toldAndLearned(
        in: [claim], purchases: Purchase.fold([refund], rules: purchaseRules))
      #expect(told.filter { $0.event.notificationType == "REFUND" }.map(\.tellings.count) == [2])
    }
  }
}

@Suite struct `An account that had a purchase` {
  private func said(_ kind: AccountAssociation.Kind, _ value: String, of line: String = "", at date: Int64)
    -> AccountAssociation
  {
    AccountAssociation(
      kind, value, of: "1", line: Line(text: line), from: Timestamp(date), to: Timestamp(date), message: [])
  }

  /// A back end that sets a new token for its user takes nothing from them.
  @Test func `has it still if only its token was set anew`() {
    let tokens = [said(.appAccountToken, "t1", at: 1), said(.appAccountToken, "t2", at: 2)]
    let users = [said(.userID, "alice", at: 1)]
    for (others, isFormer) in [([], true), (users, false), (users + [said(.userID, "bob", at: 2)], true)] {
      let all = tokens + others
      let owners = AccountTransfer.owners(after: AccountTransfer.all(in: all, purchases: []))["1"] ?? [:]
      #expect(AccountTransfer.isFormer("t1", owners, among: all) == isFormer, "\(others.count)")
    }
  }

  /// Somebody else may have subscribed again, of whom the back end has not told yet.
  @Test func `has it no more if a later period has another token`() {
    let all = [
      said(.appAccountToken, "t1", of: "1", at: 1), said(.userID, "alice", at: 1),
      said(.appAccountToken, "t2", of: "2", at: 2),
    ]
    let owners = AccountTransfer.owners(after: AccountTransfer.all(in: all, purchases: []))["1"] ?? [:]
    #expect(AccountTransfer.isFormer("t1", owners, among: all))
  }

  /// Of a stored table nobody knows since when: whoever was named since comes after.
  @Test func `by a stored table alone was before whoever was named since`() {
    let all = [said(.userID, "stored", at: 0), said(.userID, "bob", at: 2)]
    #expect(AccountTransfer.owners(after: AccountTransfer.all(in: all, purchases: [])) == ["1": [.userID: "bob"]])
  }
}

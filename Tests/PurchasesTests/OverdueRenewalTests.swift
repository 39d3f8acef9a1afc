/// A subscription's periods of one hour, as Apple signed them, each when it began.
private func hourly(
  periods: Int, autoRenew: Int64?, saidAt: Int64? = nil, retrying: Bool = false, graceUntil: Int64? = nil
) -> Subscription? {
  let hour: Int64 = 3_600_000
  let statements = (0..<Int64(periods)).map { index -> PurchaseStatement in
    let values: [PurchaseField: JSONValue] = [
      .type: "Auto-Renewable Subscription", .purchaseDate: .integer(index * hour),
      .expiresDate: .integer((index + 1) * hour), .transactionId: .string("\(index + 1)"),
      .transactionReason: index == 0 ? "PURCHASE" : "RENEWAL",
    ]
    return said(at: index * hour, line: "\(index)", values)
  }
  var renewals: [RenewalStatement] = []
  if let autoRenew {
    var values: [RenewalField: JSONValue] = [.autoRenewStatus: .integer(autoRenew)]
    if retrying { values[.isInBillingRetryPeriod] = true }
    if let graceUntil { values[.gracePeriodExpiresDate] = .integer(graceUntil) }
    renewals = [saidOfRenewal(at: saidAt ?? Int64(periods - 1) * hour, values)]
  }
  return Subscription(
    key: SubscriptionKey(app: app, environment: .production, originalTransactionID: "1"),
    purchases: Purchase.fold(statements, rules: purchaseRules), renewal: Resolved(renewals, rules: renewalRules))
}

@Suite struct `An overdue renewal` {
  private static let hour: Int64 = 3_600_000

  private struct Case: Sendable {
    var autoRenew: Int64?
    var saidAt: Int64?
    var retrying = false
    var graceUntil: Int64?
    var now: Int64
    var expected: OverdueRenewal?
  }

  @Test(arguments: [
    Case(autoRenew: 1, now: 1, expected: nil), Case(autoRenew: 1, now: 3, expected: .shouldHaveRenewed),
    Case(autoRenew: nil, now: 3, expected: .unheard), Case(autoRenew: 0, now: 3, expected: nil),
    Case(autoRenew: 1, saidAt: 2, now: 3, expected: nil),
    Case(autoRenew: 1, saidAt: 2, retrying: true, now: 24 * 30, expected: nil),
    Case(autoRenew: 1, saidAt: 2, retrying: true, now: 24 * 70, expected: .unheard),
    Case(autoRenew: 1, saidAt: 2, retrying: true, graceUntil: 5, now: 5, expected: nil),
    Case(autoRenew: 1, saidAt: 2, retrying: true, graceUntil: 5, now: 6, expected: .unheard),
    Case(autoRenew: 1, saidAt: 5, retrying: true, graceUntil: 5, now: 6, expected: nil),
  ])
  private func `is broken only by news from after its period and its grace period`(_ example: Case) throws {
    let subscription = try #require(
      hourly(
        periods: 1, autoRenew: example.autoRenew, saidAt: example.saidAt.map { $0 * Self.hour },
        retrying: example.retrying, graceUntil: example.graceUntil.map { $0 * Self.hour }))
    let now = Timestamp(example.now * Self.hour)
    #expect(subscription.overdueRenewal(at: now, allowing: .hours(1)) == example.expected)
  }

  @Test func `is not broken by a refund of an earlier period`() throws {
    let quiet = try #require(hourly(periods: 2, autoRenew: 1))
    let refund = said(
      at: Self.hour * 5 / 2, line: "0",
      [
        .type: "Auto-Renewable Subscription", .purchaseDate: 0, .expiresDate: .integer(Self.hour),
        .transactionId: "1", .transactionReason: "PURCHASE", .revocationDate: .integer(Self.hour * 5 / 2),
      ])
    let statements = quiet.periods.flatMap(\.statements) + [refund]
    let subscription = try #require(
      Subscription(
        key: quiet.key, purchases: Purchase.fold(statements, rules: purchaseRules), renewal: quiet.renewal))
    #expect(subscription.lastHeard == Timestamp(Self.hour * 5 / 2))
    #expect(subscription.overdueRenewal(at: Timestamp(4 * Self.hour), allowing: .hours(1)) == .shouldHaveRenewed)
  }

  @Test func `tells of each end of a period whether it was told of, learned, or not heard of`() throws {
    let subscription = try #require(hourly(periods: 3, autoRenew: 1))
    let told = event(at: Self.hour, line: "1")
    let now = Timestamp(10 * Self.hour)
    func outcomes(_ events: [Event]) -> [ExpectedRenewal.Outcome] {
      subscription.expectedRenewals(from: Timestamp(0), to: now, allowing: .hours(1), told: events).map(\.outcome)
    }
    #expect(outcomes([told]) == [.told, .learned, .unheard])
    #expect(outcomes([]) == [.learned, .learned, .unheard])
  }

  private func event(at date: Int64, line: String) -> Event {
    Event(
      app: app, environment: .production, notificationUUID: "u\(line)", notificationType: "DID_RENEW", subtype: nil,
      originalTransactionID: "1", transactionID: nil, line: Line(text: line), date: Timestamp(date),
      source: .signedV2, rank: Rank(asOf: Timestamp(date), tieBreak: []), details: [:], message: [1], rule: "N-014")
  }

  @Test func `leaves events to be learned, until a notification tells of them`() throws {
    let purchases = try #require(hourly(periods: 3, autoRenew: 1)).periods
    let told = event(at: Self.hour, line: "1")
    let both = MergedEvent.toldAndLearned(in: [told], purchases: purchases)
    #expect(both.map(\.event.notificationType) == ["SUBSCRIBED", "DID_RENEW", "DID_RENEW"])
    #expect(both.map(\.isLearned) == [true, false, true])
    #expect(both.map(\.event.date.sinceEpoch) == [0, Self.hour, 2 * Self.hour])
    let late = event(at: 2 * Self.hour + 400, line: "2")
    let after = MergedEvent.toldAndLearned(in: [told, late], purchases: purchases)
    #expect(after.map(\.isLearned) == [true, false, false])
  }

  /// A refund that only V1 tells of is no event that Apple's signed word teaches; nor does a claim hide one that is.
  @Test func `learns no event from a claim, and none is hidden by one`() throws {
    func refunded(_ source: Source) -> [PurchaseStatement] {
      let period: [PurchaseField: JSONValue] = [
        .transactionId: "1", .purchaseDate: 1_000, .expiresDate: 900_000, .transactionReason: "PURCHASE",
      ]
      return [
        said(
          .signedV2, at: 1_000, line: "10",
          source == .signedV2 ? period.merging([.revocationDate: 5_000]) { $1 } : period),
        said(.notificationV1, at: 6_000, line: "10", period.merging([.revocationDate: 5_000]) { $1 }),
      ]
    }
    func event(_ type: String, at date: Int64) -> Event {
      Event(
        app: app, environment: .production, notificationUUID: nil, notificationType: type, subtype: nil,
        originalTransactionID: "1", transactionID: nil, line: Line(text: "10"), date: Timestamp(date),
        source: .notificationV1, rank: Rank(asOf: Timestamp(date), tieBreak: []), details: [:], message: [1],
        rule: nil)
    }
    let claimed = Purchase.fold(refunded(.notificationV1), rules: purchaseRules)
    #expect(claimed.map(\.revocationDate) == [Timestamp(5_000)])
    let learned = MergedEvent.toldAndLearned(in: [], purchases: claimed)
    #expect(learned.map(\.event.notificationType) == ["SUBSCRIBED"])
    let told = MergedEvent.toldAndLearned(in: [event("REFUND", at: 5_000)], purchases: claimed)
    #expect(told.map(\.isClaimed) == [false, true])

    let signed = Purchase.fold(refunded(.signedV2), rules: purchaseRules)
    // It tells of what was signed: one event, by the signed source. Another in the same second hides nothing.
    let confirmed = MergedEvent.toldAndLearned(in: [event("REFUND", at: 5_000)], purchases: signed)
    #expect(confirmed.map(\.event.notificationType) == ["SUBSCRIBED", "REFUND"])
    #expect(confirmed.map(\.isClaimed) == [false, false] && confirmed.map(\.isLearned) == [true, true])
    #expect(confirmed.map(\.event.source) == [.signedV2, .signedV2])
    #expect(confirmed.map { $0.tellings.map(\.source) } == [[.signedV2], [.signedV2, .notificationV1]])
    let beside = MergedEvent.toldAndLearned(in: [event("DID_RENEW", at: 5_000)], purchases: signed)
    #expect(beside.map(\.event.notificationType).sorted() == ["DID_RENEW", "REFUND", "SUBSCRIBED"])
    #expect(beside.filter(\.isClaimed).map(\.event.notificationType) == ["DID_RENEW"])
  }

  /// A renewal by two lines: what Apple signed of it, and what somebody with the shared secret says of the same line.
  private func renewed(by receipt: Source = .signedV2) -> [PurchaseStatement] {
    let first: [PurchaseField: JSONValue] = [
      .transactionId: "1", .purchaseDate: 1_000, .expiresDate: 5_000, .transactionReason: "PURCHASE",
    ]
    let second: [PurchaseField: JSONValue] = [
      .transactionId: "2", .purchaseDate: 5_000, .expiresDate: 900_000, .transactionReason: "RENEWAL",
    ]
    return [
      said(receipt, at: 1_000, line: "10", first), said(receipt, at: 5_000, line: "11", second),
      said(.notificationV1, at: 6_000, line: "11", second),
    ]
  }

  @Test(arguments: [Source.signedV2, .verifiedReceipt])
  func `shows a claim with another subtype beside what was signed, never in its place`(source: Source) {
    let purchases = Purchase.fold(renewed(by: source), rules: purchaseRules)
    let before = MergedEvent.toldAndLearned(in: [], purchases: purchases)
    #expect(before.map(\.event.notificationType) == ["SUBSCRIBED", "DID_RENEW"])
    let same = told(.notificationV1, line: "11", transaction: "2", date: 5_400, details: ["forged": true])
    var recovered = same
    (recovered.subtype, recovered.message) = ("BILLING_RECOVERY", [9])
    for claims in [[same], [recovered], [same, recovered], [recovered, same]] {
      let after = MergedEvent.toldAndLearned(in: claims, purchases: purchases)
      #expect(after.filter { !$0.isClaimed }.map(\.event) == before.map(\.event))
      let claimed = after.filter(\.isClaimed)
      #expect(claimed.map(\.event.subtype) == (claims.contains(recovered) ? ["BILLING_RECOVERY"] : []))
      #expect(claimed.allSatisfy { !$0.isLearned && $0.event.source == .notificationV1 })
    }
  }

  /// A claim that is told of one refund, and names the transaction of another in the same second.
  @Test func `hears of each refund that Apple signed, whatever a claim calls it`() {
    let statements = ["1", "2"].map { number in
      said(
        .signedV2, at: 1_000, line: "1\(number)",
        [.transactionId: .string(number), .purchaseDate: 1_000, .expiresDate: 900_000, .revocationDate: 5_000])
    }
    let purchases = Purchase.fold(statements, rules: purchaseRules)
    let signed = told(.signedV2, type: "REFUND", line: "11", transaction: "1", date: 5_000)
    let claim = told(.notificationV1, type: "REFUND", line: "11", transaction: "2", date: 5_000)
    for claims in [[], [claim]] {
      let all = MergedEvent.toldAndLearned(in: [signed] + claims, purchases: purchases)
      let refunds = all.filter { $0.event.notificationType == "REFUND" && !$0.isClaimed }
      #expect(Set(refunds.map(\.event.transactionID)) == ["1", "2"], "\(claims.count)")
    }
  }

  @Test func `is not learned by a claim that calls itself learned`() {
    let claim = told(.notificationV1, type: "REFUND", details: ["learned": true])
    let all = MergedEvent.toldAndLearned(in: [claim], purchases: [])
    #expect(all.map(\.isLearned) == [false] && all.map(\.isClaimed) == [true])
  }
}

@testable import Simulator

@Suite struct `A stream of notifications` {
  private static let count = 1_280

  @Test func `is accepted and understood to the last field`() async throws {
    let adapter = try Bench.adapter()
    let all = try await `The same seed`.stream(seed: 11).generate(Self.count)
    for notification in all {
      let reading = try adapter.read(notification.body)
      #expect(reading.survey.isClean, "\(notification.title): \(reading.survey)")
      #expect(reading.title == notification.title)
      #expect(reading.findings.events.first?.rule != nil)
      #expect(reading.findings.events.first?.originalTransactionID == notification.originalTransactionID)
    }
  }

  @Test func `repeats no id, of any customer`() async throws {
    let all = try await `The same seed`.stream(seed: 12).generate(Self.count)
    #expect(Set(all.map(\.notificationUUID)).count == Self.count)
    #expect(Set(all.map(\.body)).count == Self.count)
    let drafts = try (0..<2).flatMap { try `The same seed`.stream(seed: 12).drafts(ofBlock: $0) }
    let customers = Dictionary(grouping: drafts.compactMap(\.subject?.transaction)) { $0["originalTransactionId"] }
    #expect(customers.count >= 128)
    for (_, payloads) in customers { #expect(Set(payloads.map { $0["appTransactionId"] }).count == 1) }
    #expect(drafts.compactMap { $0.subject?.transaction?["transactionId"]?.string }.allSatisfy { $0.utf8.count == 16 })
  }

  @Test func `tells of each customer in the order of time`() throws {
    var last: [String: Timestamp] = [:]
    for draft in try `The same seed`.stream(seed: 13).drafts(ofBlock: 3) {
      let customer = try #require(draft.subject?.transaction?["appTransactionId"]?.string)
      if let before = last[customer] { #expect(before < draft.signedDate) }
      last[customer] = draft.signedDate
    }
    #expect(last.count == 64)
  }

  @Test func `has everything that happens to purchases`() throws {
    let titles = Set(try (0..<8).flatMap { try `The same seed`.stream(seed: 14).drafts(ofBlock: $0) }.map(\.title))
    let expected: Set = [
      "SUBSCRIBED/INITIAL_BUY", "SUBSCRIBED/RESUBSCRIBE", "DID_RENEW", "DID_RENEW/BILLING_RECOVERY",
      "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED",
      "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_CHANGE_RENEWAL_PREF",
      "OFFER_REDEEMED", "OFFER_REDEEMED/UPGRADE", "OFFER_REDEEMED/DOWNGRADE", "EXPIRED",
      "EXPIRED/PRODUCT_NOT_FOR_SALE", "DID_FAIL_TO_RENEW",
      "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/VOLUNTARY", "EXPIRED/BILLING_RETRY",
      "REFUND", "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE",
    ]
    #expect(titles == expected)
  }

  @Test func `is of the people who come to a world of the same seed`() throws {
    var app = AppPlan(Bench.app, selling: [], sharedSecret: "")
    app.customers = 128
    let world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 15, start: Bench.start)
    let people = Set(world.customers().map { world.state(of: $0).customer.appTransactionID })
    let drafts = try (0..<2).flatMap { try `The same seed`.stream(seed: 15).drafts(ofBlock: $0) }
    #expect(Set(drafts.compactMap { $0.subject?.transaction?["appTransactionId"]?.string }) == people)
  }

  @Test func `stays within the certificates' time`() throws {
    let dates = try (0..<8).flatMap { try `The same seed`.stream(seed: 15).drafts(ofBlock: $0) }.map(\.signedDate)
    #expect(dates.allSatisfy { $0 > Bench.start && $0 < Bench.start + .days(600) })
  }
}

@testable import Ledger

/// What proves a purchase and is no signed transaction, and what names one and has no row of it.
@Suite struct `A look-up that confirms` {
  /// A receipt says nothing of what the subscription does next, and answers are made of signed transactions alone.
  @Test func `is queued for a period that only a receipt in the same body proves`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, renewal: 1, at: 50)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, also: .verifiedReceipt, at: 100)
      #expect(try await fixture.work() == ["claimedChange 1 waiting", "history 1 waiting"])
      try await fixture.hear(.notificationV1, period: 2, also: .verifiedReceipt, at: 200)
      #expect(try await fixture.open()["1"]?.since == fixture.time(100), "old news")
    }
  }

  @Test func `is requested for a later period of a receipt, a minute after it came, and once`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.hear(.verifiedReceipt, period: 2, at: 50)
      #expect(try await fixture.work().isEmpty, "no history: it is a seed")
      try await fixture.store(history: ["1"])
      try await fixture.hear(.verifiedReceipt, period: 1, at: 60)
      #expect(try await fixture.work().isEmpty)
      try await fixture.hear(.verifiedReceipt, period: 3, at: 100)
      #expect(try await fixture.work() == ["history 1 waiting"])
      #expect(try await fixture.lease(at: 159, queue: .requested).isEmpty)
      let leased = try await fixture.lease(at: 160, queue: .requested)
      #expect(leased.count == 1)
      try await fixture.settle(leased, fixture.stored(["1"]), at: 161)
      try await fixture.hear(.verifiedReceipt, period: 3, at: 200)
      #expect(try await fixture.work() == ["history 1 done"])
    }
  }

  @Test func `is queued for a period of an id of which Apple, asked too early, knew nothing`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, period: 1, also: .verifiedReceipt, at: 0)
      #expect(try await fixture.work() == ["history 1 waiting"])
      let early = try await fixture.lease(at: 1, queue: .requested)
      try await fixture.settle(early, .closed(.unknown, reason: "Apple knows no such id"), at: 2)
      try await fixture.hear(.notificationV1, period: 2, also: .verifiedReceipt, at: 100)
      #expect(try await fixture.work() == ["claimedChange 1 waiting", "history 1 unknown"])
    }
  }

  @Test func `is queued for a refund that names an id and has no row, and made again where it came too early`()
    async throws
  {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      for id in ["1", "7"] {
        var findings = Findings(app: fixture.app.bundleID, environment: .production)
        findings.events = [
          Event(
            app: fixture.app.bundleID, environment: .production, notificationUUID: nil, notificationType: "REFUND",
            subtype: nil, originalTransactionID: id, transactionID: nil, line: nil, date: fixture.time(99),
            source: .notificationV1, rank: Rank(asOf: fixture.time(99), tieBreak: [1]), details: [:],
            message: [UInt8](repeating: 1, count: 32), rule: "V-027")
        ]
        try await fixture.append(
          findings, InboxMessage(kind: .notification, body: Array(id.utf8), receivedAt: fixture.time(100)))
      }
      #expect(try await fixture.work() == ["claimedChange 1 waiting", "claimedID 7 waiting"])
      // A period of it is told and found, which says nothing of the refund.
      try await fixture.hear(.notificationV1, period: 2, at: 100.5)
      try await fixture.hear(.signedV2, period: 2, at: 100.6)
      let early = try await fixture.lease(at: 101).filter { $0.subject == "1" }
      try await fixture.settle(early, fixture.stored(["1"]), at: 102)
      #expect(try await fixture.open()["1"]?.because == [.refund, .refundWithoutRow, .period])
      let again = try await fixture.lease(at: 162)
      try await fixture.settle(again, fixture.stored(["1"]), at: 163)
      #expect(try await fixture.open()["1"] == nil)
    }
  }

  /// Apple's API may still say what it said before.
  @Test func `is made again for a renewal of which Apple, asked within the minute, signs the old word`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, renewal: 1, at: 0)
      try await fixture.store(history: ["1"])
      for (begin, signed) in [(100.0, Int64(1)), (300, 0)] {
        try await fixture.hear(.notificationV1, period: 1, renewal: begin == 100 ? 0 : 1, at: begin)
        try await fixture.settle(try await fixture.lease(at: begin + 1), fixture.stored(["1"]), at: begin + 1.1)
        #expect(try await fixture.open()["1"]?.because == .renewal)
        try await fixture.hear(.signedV2, period: 1, renewal: 1 - signed, at: begin + 62)
        let again = try await fixture.lease(at: begin + 63)
        #expect(again.count == 1)
        try await fixture.settle(again, fixture.stored(["1"]), at: begin + 64)
        #expect(try await fixture.open()["1"] == nil)
      }
      // Apple says the same at once: nothing is asked again.
      try await fixture.hear(.notificationV1, period: 1, renewal: 0, at: 500)
      let leased = try await fixture.lease(at: 501)
      try await fixture.hear(.signedV2, period: 1, renewal: 0, at: 501)
      try await fixture.settle(leased, fixture.stored(["1"]), at: 501.1)
      #expect(try await fixture.open()["1"] == nil)
    }
  }

  /// DID_RENEW without rows: what Apple's API shows in the same second may be the period before.
  @Test func `is made again for a renewal without a row of which Apple was asked within the minute`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.append(fixture.event("DID_RENEW", line: nil, at: 100), fixture.message("renewed", at: 100))
      try await fixture.settle(try await fixture.lease(at: 101), fixture.stored(["1"]), at: 102)
      #expect(try await fixture.open()["1"]?.because == .period)
      try await fixture.settle(try await fixture.lease(at: 163), fixture.stored(["1"]), at: 164)
      #expect(try await fixture.open()["1"] == nil)
    }
  }

  /// The row of the refund that is meant may lack its date: then an older one is taken for it.
  @Test func `is queued for a refund whose row is of one that is old news`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, revokedAt: 10, at: 20)
      try await fixture.store(history: ["1"])
      var findings = try fixture.event("REFUND", line: Line(text: "1001"), at: 100)
      findings.purchases = fixture.findings(.notificationV1, of: "1", 1...1, revokedAt: 10, at: 100).purchases
      try await fixture.append(findings, fixture.message("refunded", at: 100))
      #expect(try await fixture.open()["1"]?.because == [.refund, .refundWithoutRow])
    }
  }
}

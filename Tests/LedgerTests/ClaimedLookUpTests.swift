@testable import Ledger

@Suite struct `A look-up because of a claimed change` {
  @Test func `is queued by the commit of the message, once for a burst, and is due after a second`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, at: 100)
      try await fixture.hear(.notificationV1, period: 2, renewal: 0, at: 100.4)
      #expect(try await fixture.work() == ["claimedChange 1 waiting"])
      let open = try #require(try await fixture.open()["1"])
      #expect(open.since == fixture.time(100) && open.because == [.period, .renewal] && open.failure == nil)
      #expect(try await fixture.lease(at: 100.9).isEmpty)
      let leased = try await fixture.lease(at: 101)
      #expect(leased.map(\.subject) == ["1"] && leased.allSatisfy(\.isClaimedAlone))
    }
  }

  @Test func `is not queued for a retry, for old news, and for what a transaction in the same message says`()
    async throws
  {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, renewal: 1, at: 50)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 1, renewal: 1, at: 60)
      try await fixture.hear(.notificationV1, period: 1, renewal: 0, at: 40)
      #expect(try await fixture.work().isEmpty)
      try await fixture.hear(.notificationV1, period: 2, also: .signedV2, at: 100)
      #expect(try await fixture.work() == ["history 1 waiting"], "the seed")
      // The first time it is news; said once more, in another body, it is not.
      try await fixture.hear(.notificationV1, period: 3, at: 200)
      try await fixture.settle(fixture.lease(at: 201), .closed(.unknown, reason: "nothing"), at: 202)
      #expect(try await fixture.open().isEmpty)
      try await fixture.hear(.notificationV1, period: 3, at: 300)
      #expect(try await fixture.work() == ["claimedChange 1 unknown", "history 1 waiting"])
    }
  }

  /// One V1 body that names so many ids.
  private func many(_ ids: Range<Int>, _ order: UnconfirmedIDPriority, at seconds: Double, _ fixture: ClaimFixture)
    async throws
  {
    var findings = Findings(app: fixture.app.bundleID, environment: .production)
    for id in ids {
      findings.purchases += fixture.findings(.notificationV1, of: "\(id)", 1...1, at: seconds).purchases
    }
    let body = Array("many \(ids) \(seconds)".utf8)
    let message = InboxMessage(kind: .notification, body: body, receivedAt: fixture.time(seconds))
    try await fixture.append(findings, message, order)
  }

  @Test func `of an id that Apple sent comes before those that strangers make up`() async throws {
    try await ClaimFixture.with { fixture in
      try await many(1_000..<1_050, .behind(atMost: .max), at: 100, fixture)
      try await fixture.hear(.notificationV1, of: "7", periods: 1...1, order: .first, at: 200)
      #expect(try await fixture.lease(at: 300, limit: 1).map(\.subject) == ["7"])
      // A stranger who names it first, among others, does not keep it back.
      try await fixture.hear(.notificationV1, of: "8", periods: 1...1, at: 210)
      try await fixture.hear(.notificationV1, of: "8", periods: 2...2, order: .first, at: 220)
      #expect(try await fixture.lease(at: 300, limit: 1).map(\.subject) == ["8"])
    }
  }

  @Test func `is not queued for more ids than a message may, nor beyond those that may wait`() async throws {
    try await ClaimFixture.with { fixture in
      try await many(1_000..<1_010, .behind(atMost: 3), at: 100, fixture)
      #expect(try await fixture.work().count == 3)
      #expect(fixture.ledger.takeUnqueuedIDs() == 7 && fixture.ledger.takeUnqueuedIDs() == 0)
      let scope = fixture.scope
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.queue(
          (0..<HistoryJobTable.mostUnproven).map { number in
            HistoryJobTable.ClaimedRow(
              scope: scope, kind: .claimedID, subject: "\(2_000_000 + number)", dueAt: fixture.time(110),
              createdAt: fixture.time(110))
          }, in: session)
      }
      try await many(3_000..<3_010, .behind(atMost: .max), at: 200, fixture)
      #expect(fixture.ledger.takeUnqueuedIDs() == 10, "no room")
      #expect(try await fixture.open().isEmpty)
      try await fixture.hear(.notificationV1, of: "7", periods: 1...1, order: .first, at: 300)
      #expect(fixture.ledger.takeUnqueuedIDs() == 0)
      #expect(try await fixture.lease(at: 400, limit: 1).map(\.subject) == ["7"])
    }
  }

  /// What an operator's back end hands in, or a replay, is not bounded by what strangers fill; what was is not lost.
  @Test func `of an id for which there was no room is queued when it is named again`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "7", periods: 1...1, order: .behind(atMost: 0), at: 100)
      #expect(fixture.ledger.takeUnqueuedIDs() == 1)
      #expect(try await fixture.work().isEmpty)
      // Another body that says the same.
      try await fixture.hear(.notificationV1, of: "7", periods: 1...1, order: .first, at: 200)
      #expect(try await fixture.work() == ["claimedChange 7 waiting"])
      try await fixture.settle(fixture.lease(at: 300), .closed(.unknown, reason: "nothing"), at: 301)
      try await fixture.hear(.notificationV1, of: "7", periods: 1...1, order: .first, at: 400)
      #expect(try await fixture.work() == ["claimedChange 7 unknown"], "Apple was asked, and has nothing")
    }
  }

  @Test func `stands apart from seeds where only V1 names the id, and comes after those of known customers`()
    async throws
  {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, of: "7", period: 1, at: 100)
      try await fixture.hear(.notificationV1, of: "1", period: 2, at: 101)
      try await fixture.hear(.verifyReceiptAnswer, of: "8", period: 1, at: 102)
      #expect(
        try await fixture.work() == ["claimedChange 1 waiting", "claimedID 7 waiting", "unverifiedID 8 waiting"])
      #expect(try await fixture.lease(at: 110, limit: 1).map(\.subject) == ["1"])
      #expect(try await fixture.lease(at: 110, limit: 1).map(\.subject) == ["7"])
      #expect(try await fixture.lease(at: 110, queue: .unverified).map(\.subject) == ["8"])
      // What a receipt in the same body proves is as good as any seed.
      try await fixture.hear(.notificationV1, of: "9", period: 1, also: .verifiedReceipt, at: 120)
      #expect(try await fixture.work().contains("history 9 waiting"))
      #expect(try await !fixture.work().contains { $0.hasPrefix("claimedID 9") })
    }
  }

  @Test func `is followed by one more when a change is reported after it was leased, a minute later`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, at: 100)
      let leased = try await fixture.lease(at: 101)
      try await fixture.hear(.notificationV1, period: 3, at: 102)
      try await fixture.hear(.notificationV1, period: 4, at: 103)
      #expect(try await fixture.lease(at: 104).isEmpty)
      try await fixture.hear(.signedV2, period: 2, at: 104)
      try await fixture.settle(leased, fixture.stored(["1"]), at: 105)
      let open = try #require(try await fixture.open()["1"])
      #expect(open.since == fixture.time(103) && open.because == .period)
      #expect(try await fixture.lease(at: 164).isEmpty)
      let again = try await fixture.lease(at: 165)
      #expect(again.count == 1)
      try await fixture.settle(again, fixture.stored(["1"]), at: 166)
      #expect(try await fixture.open().isEmpty)
      #expect(try await fixture.work() == ["claimedChange 1 done"])
    }
  }

  @Test func `begins a minute after the last of the customer at the earliest, whatever is claimed`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      var (lookUps, now) = (0, 100.0)
      for number in 2..<62 {
        try await fixture.hear(.notificationV1, period: Int64(number), at: now)
        let leased = try await fixture.lease(at: now + 2)
        lookUps += leased.count
        try await fixture.settle(leased, fixture.stored(["1"]), at: now + 3)
        now += 10
      }
      // Sixty different claims in ten minutes.
      #expect(lookUps == 9)
    }
  }

  @Test func `is settled by whichever look-up of the customer comes first, and is nobody's twice`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, at: 100)
      try await fixture.askAgain("1", at: 101)
      let leased = try await fixture.lease(at: 102, queue: .requested)
      #expect(leased.count == 1 && !leased[0].isClaimedAlone)
      #expect(try await fixture.lease(at: 102).isEmpty)
      try await fixture.hear(.signedV2, period: 2, at: 102)
      try await fixture.settle(leased, fixture.stored(["1"]), at: 103)
      #expect(try await fixture.open().isEmpty)
      #expect(try await fixture.work() == ["claimedChange 1 done", "history 1 done"])
    }
  }

  @Test func `stays open, with its reason, while Apple does not answer`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, at: 100)
      let leased = try await fixture.lease(at: 101)
      try await fixture.settle(leased, .again(at: fixture.time(160), reason: "serverFailed"), at: 102)
      let open = try #require(try await fixture.open()["1"])
      #expect(open.since == fixture.time(100) && open.failure == "serverFailed")
      // A further report finds it open, and puts nothing off.
      try await fixture.hear(.notificationV1, period: 3, at: 120)
      #expect(try await fixture.lease(at: 159).isEmpty)
      let again = try await fixture.lease(at: 160)
      try await fixture.hear(.signedV2, periods: 2...3, at: 160)
      try await fixture.settle(again, fixture.stored(["1"]), at: 161)
      #expect(try await fixture.open().isEmpty)
    }
  }

  @Test func `is made once more where Apple was asked within a minute and does not show the change yet`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 1, revokedAt: 99, at: 100)
      let early = try await fixture.lease(at: 101)
      // Apple's API answers with the period as it was.
      try await fixture.hear(.signedV2, period: 1, at: 101)
      try await fixture.settle(early, fixture.stored(["1"]), at: 102)
      #expect(try await fixture.open()["1"]?.because == .refund)
      #expect(try await fixture.lease(at: 161.9).isEmpty)
      let again = try await fixture.lease(at: 162)
      #expect(again.map(\.subject) == ["1"])
      // What it does not show then is not so.
      try await fixture.settle(again, fixture.stored(["1"]), at: 163)
      #expect(try await fixture.open().isEmpty)
      #expect(try await fixture.work() == ["claimedChange 1 done"])
    }
  }

  @Test func `is made once where the answer shows the change`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 1, revokedAt: 99, at: 100)
      let leased = try await fixture.lease(at: 101)
      try await fixture.hear(.signedV2, period: 1, revokedAt: 99, at: 101)
      try await fixture.settle(leased, fixture.stored(["1"]), at: 102)
      #expect(try await fixture.open().isEmpty)
    }
  }

  @Test func `is not held up by customers who are leased elsewhere`() async throws {
    try await ClaimFixture.with { fixture in
      let busy = ["1", "2", "3", "4"]
      for id in busy {
        try await fixture.hear(.signedV2, of: id, period: 1, at: 0)
        try await fixture.askAgain(id, at: 10)
      }
      try await fixture.store(history: Set(busy + ["9"]))
      #expect(try await fixture.lease(at: 11, queue: .requested).count == 4)
      for id in busy { try await fixture.hear(.notificationV1, of: id, period: 2, at: 12) }
      try await fixture.hear(.signedV2, of: "9", period: 1, at: 12)
      try await fixture.hear(.notificationV1, of: "9", period: 2, at: 13)
      #expect(try await fixture.lease(at: 20, limit: 2).map(\.subject) == ["9"])
    }
  }

  @Test func `leaves what signed data names and no history holds to the seeds, and nothing that is forged`()
    async throws
  {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, renewal: 1, at: 50)
      // V1 says the same: nothing is claimed, and nothing was ever asked.
      try await fixture.hear(.notificationV1, period: 1, renewal: 1, at: 60)
      #expect(try await fixture.work() == ["history 1 waiting"])
      for time in [70.0, 80.0] { try await fixture.hear(.notificationV1, of: "7", period: 1, renewal: 1, at: time) }
      #expect(try await fixture.work() == ["claimedID 7 waiting", "history 1 waiting"])
    }
  }

  @Test func `is not reopened by hand once it is settled`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "7", period: 1, at: 100)
      try await fixture.settle(fixture.lease(at: 101), .closed(.unknown, reason: "nothing"), at: 102)
      try await fixture.hear(.notificationV1, of: "8", period: 1, at: 103)
      let (app, now) = (fixture.app, fixture.time(200))
      let count = try await fixture.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.retry(of: app, [.waiting, .unknown, .failed], at: now, in: session)
      }
      #expect(count == 1)
      #expect(try await fixture.work() == ["claimedID 7 unknown", "claimedID 8 waiting"])
    }
  }

  @Test func `reads as many rows as its message has, for a customer of ten thousand periods`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, periods: 1...10_000, at: 0)
      try await fixture.store(history: ["1"])
      var reads: [Int] = []
      // The first one opens the tables, for which MySQL reads its dictionary.
      for count in [1 as Int64, 1, 100] {
        let findings = fixture.findings(.notificationV1, of: "1", (10_001 - count)...10_000, renewal: 1, at: 100)
        let message = InboxMessage(kind: .notification, body: Array("\(count)".utf8), receivedAt: fixture.time(100))
        let (app, id) = (fixture.app, count)
        reads.append(
          try await fixture.pool.transaction { session throws(DatabaseError) in
            let before = try Self.rowsRead(session)
            let reports = try UnconfirmedReport.all(in: [(message, app.id, findings)], session)
            #expect(reports.map(\.change) == [.renewal], "\(id)")
            return try Self.rowsRead(session) - before
          })
      }
      // Two of the last period at most, its renewals, and one of the history; the figures themselves are read, too.
      #expect(reads.dropFirst().allSatisfy { $0 < 40 }, "\(reads)")
    }
  }

  private static func rowsRead(_ session: borrowing Session) throws(DatabaseError) -> Int {
    var sum = 0
    for row in try session.query(
      """
      SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_prev',
        'Handler_read_first')
      """)
    { sum += Int(try row.text("Value")) ?? 0 }
    return sum
  }

  @Test func `is remembered for a day once it is settled`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "7", period: 1, at: 100)
      try await fixture.settle(fixture.lease(at: 101), .closed(.unknown, reason: "nothing"), at: 102)
      try await fixture.hear(.notificationV1, of: "9", period: 1, at: 100)
      try await fixture.settle(fixture.lease(at: 101), .closed(.failed, reason: "nothing"), at: 102)
      try await fixture.hear(.notificationV1, of: "8", period: 1, at: 100)
      let scope = fixture.scope
      let purged = try await fixture.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.purgeUnproven(in: scope, dueBefore: fixture.time(90_000), limit: 10, session)
      }
      #expect(purged == 2)
      #expect(try await fixture.work() == ["claimedID 8 waiting"])
    }
  }

  @Test func `is told of with the purchases, unless the app has no key to ask with`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, at: 0)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 2, at: 100)
      let without = try #require(
        try await fixture.ledger.dossiers(of: "1", app: fixture.app, extent: .customers).first)
      #expect(without.lookUps.isEmpty && !without.canAskApple && without.hold == .standard)
      let (app, now) = (fixture.app, fixture.time(100))
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try CredentialTable.put(
          [1, 2, 3], kind: .apiKey, name: "key", issuer: "issuer", of: app, sealedWith: Keyring(current: .generate()),
          at: now, in: session)
        try PolicyTable.set(accessHold: AccessHold(hours: 5), of: app, at: now, in: session)
      }
      let dossier = try #require(
        try await fixture.ledger.dossiers(of: "1", app: fixture.app, extent: .customers).first)
      #expect(dossier.lookUps["1"]?.because == .period && dossier.canAskApple && dossier.hold.hours == 5)
    }
  }
}

import Database
import JSON
import Purchases
import Signing
import Support
import Testing
import Time

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

  @Test func `is not queued for a retry, for old news, and for what signed data in the same message says`() async throws
  {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, period: 1, renewal: 1, at: 50)
      try await fixture.store(history: ["1"])
      try await fixture.hear(.notificationV1, period: 1, renewal: 1, at: 60)
      try await fixture.hear(.notificationV1, period: 1, renewal: 0, at: 40)
      #expect(try await fixture.work().isEmpty)
      // What a receipt in the same body proves is a seed as any.
      try await fixture.hear(.notificationV1, period: 2, also: .verifiedReceipt, at: 100)
      #expect(try await fixture.work() == ["history 1 waiting"])
      // The first time it is news; said once more, in another body, it is not.
      try await fixture.hear(.notificationV1, period: 3, at: 200)
      try await fixture.settle(fixture.lease(at: 201), .closed(.unknown, reason: "nothing"), at: 202)
      #expect(try await fixture.open().isEmpty)
      try await fixture.hear(.notificationV1, period: 3, at: 300)
      #expect(try await fixture.work() == ["claimedChange 1 unknown", "history 1 waiting"])
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
        try await fixture.work() == ["claimedChange 1 waiting", "claimedID 7 waiting", "history 8 waiting"])
      #expect(try await fixture.lease(at: 110, limit: 1).map(\.subject) == ["1"])
      #expect(try await fixture.lease(at: 110, limit: 1).map(\.subject) == ["7"])
      #expect(try await fixture.lease(at: 110, queue: .requested).map(\.subject) == ["8"])
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
      try await fixture.settle(again, fixture.stored(["1"]), at: 161)
      #expect(try await fixture.open().isEmpty)
    }
  }

  @Test func `reads as many rows as its message has, for a customer of ten thousand periods`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.signedV2, periods: 1...10_000, at: 0)
      try await fixture.store(history: ["1"])
      var reads: [Int] = []
      for count in [1 as Int64, 100] {
        let findings = fixture.findings(.notificationV1, of: "1", (10_001 - count)...10_000, renewal: 1, at: 100)
        let message = InboxMessage(kind: .notification, body: Array("\(count)".utf8), receivedAt: fixture.time(100))
        let (app, id) = (fixture.app, count)
        reads.append(
          try await fixture.pool.transaction { session throws(DatabaseError) in
            let before = try Self.rowsRead(session)
            let reports = try ClaimedReport.all(in: [(message, app.id, findings)], session)
            #expect(reports.map(\.change) == [.renewal], "\(id)")
            return try Self.rowsRead(session) - before
          })
      }
      // Two of the last period at most, its renewals, and one of the history; the figures themselves are read, too.
      #expect(reads.allSatisfy { $0 < 40 }, "\(reads)")
    }
  }

  private static func rowsRead(_ session: borrowing Session) throws(DatabaseError) -> Int {
    var sum = 0
    for row in try session.query(
      """
      SELECT variable_value AS value FROM information_schema.session_status
      WHERE variable_name IN ('HANDLER_READ_KEY', 'HANDLER_READ_NEXT', 'HANDLER_READ_PREV', 'HANDLER_READ_FIRST')
      """)
    { sum += Int(try row.text("value")) ?? 0 }
    return sum
  }

  @Test func `is remembered for a day once it is settled`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.hear(.notificationV1, of: "7", period: 1, at: 100)
      try await fixture.settle(fixture.lease(at: 101), .closed(.unknown, reason: "nothing"), at: 102)
      try await fixture.hear(.notificationV1, of: "8", period: 1, at: 100)
      let scope = fixture.scope
      let purged = try await fixture.pool.transaction { session throws(DatabaseError) in
        try WorkTable.purgeClaimed(in: scope, dueBefore: fixture.time(90_000), limit: 10, session)
      }
      #expect(purged == 1)
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

@Suite struct `The checks of renewals` {
  private func check(_ id: String, due: Double?, asOf: Double, _ fixture: ClaimFixture) -> RenewalCheck {
    RenewalCheck(originalTransactionID: id, dueAt: due.map(fixture.time), asOf: fixture.time(asOf))
  }

  @Test func `become work when they are due, unless something signed was heard since they were planned`() async throws {
    try await ClaimFixture.with { fixture in
      let scope = fixture.scope
      for id in ["1", "2", "3"] { try await fixture.hear(.signedV2, of: id, period: 1, renewal: 1, at: 10) }
      let checks = [
        check("1", due: 500, asOf: 10, fixture), check("2", due: 500, asOf: 10, fixture),
        check("3", due: 900, asOf: 10, fixture),
      ]
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try RenewalCheckTable.plan(checks, in: scope, session)
      }
      try await fixture.hear(.signedV2, of: "2", period: 2, renewal: 1, at: 400)
      func begin(at now: Double) async throws -> [Int] {
        try await fixture.pool.transaction { session throws(DatabaseError) in
          let (due, asked) = try RenewalCheckTable.begin(in: scope, limit: 10, at: fixture.time(now), session)
          return [due, asked]
        }
      }
      #expect(try await begin(at: 499) == [0, 0])
      #expect(try await begin(at: 500) == [2, 1])
      #expect(try await begin(at: 501) == [0, 0])
      #expect(try await fixture.work() == ["history 1 waiting"])
      // A look-up that finds that nothing is expected takes the plan away.
      let none = [check("3", due: nil, asOf: 600, fixture)]
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try RenewalCheckTable.plan(none, in: scope, session)
      }
      #expect(try await begin(at: 1_000) == [0, 0])
    }
  }

  @Test func `are planned by the look-up that is stored`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.askAgain("1", at: 10)
      let leased = try await fixture.lease(at: 11, queue: .requested)
      let history = StoredHistory(
        environment: .production, originalTransactionIDs: ["1"], transactionIDs: [], revision: "1",
        renewalChecks: [check("1", due: 700, asOf: 11, fixture)])
      try await fixture.settle(leased, .stored(history), at: 12)
      let counts = try await fixture.pool.read { session throws(DatabaseError) in
        try RenewalCheckTable.counts(in: session)
      }
      #expect(counts == [fixture.scope: 1])
    }
  }
}

/// A ledger that hears of periods of a day; times are seconds.
private struct ClaimFixture: Sendable {
  let pool: Pool
  let ledger: Ledger
  let app: App
  private static let start = Milliseconds(1_780_000_000_000)

  static func with(_ body: (Self) async throws -> Void) async throws {
    let fixture = try await LedgerFixture()
    do {
      try await body(Self(pool: fixture.pool, ledger: fixture.ledger, app: fixture.app))
    } catch {
      await fixture.pool.close()
      throw error
    }
    await fixture.pool.close()
  }

  var scope: Ledger.Scope { Ledger.Scope(app: app.id, environment: .production) }

  func time(_ seconds: Double) -> Milliseconds { Self.start + .milliseconds(Int64(seconds * 1_000)) }

  func findings(
    _ source: Source, of original: String, _ periods: ClosedRange<Int64>, renewal: Int64? = nil,
    also other: Source? = nil, at asOf: Double
  ) -> Findings {
    var findings = Findings(app: app.bundleID, environment: .production)
    let rank = Rank(asOf: time(asOf), tieBreak: [UInt8](repeating: UInt8(source.rawValue), count: 16))
    let message = [UInt8](repeating: UInt8(source.rawValue), count: 32)
    let day: Int64 = 86_400_000
    for source in [source] + (other.map { [$0] } ?? []) {
      findings.purchases += periods.map { number in
        var facts = Facts<PurchaseField>()
        facts.set(.originalTransactionId, .string(original))
        facts.set(.type, "Auto-Renewable Subscription")
        facts.set(.purchaseDate, .integer(Self.start.sinceEpoch + number * day))
        facts.set(.expiresDate, .integer(Self.start.sinceEpoch + (number + 1) * day))
        return PurchaseStatement(
          key: PurchaseKey(
            app: app.bundleID, environment: .production, originalTransactionID: original,
            line: Line(text: "\(original)00\(number)")), source: source, rank: rank, facts: facts, message: message)
      }
    }
    if let renewal {
      var facts = Facts<RenewalField>()
      facts.set(.autoRenewStatus, .integer(renewal))
      findings.renewals = [
        RenewalStatement(
          key: SubscriptionKey(app: app.bundleID, environment: .production, originalTransactionID: original),
          source: source, rank: rank, facts: facts, message: message)
      ]
    }
    if !source.isSigned {
      findings.seeds = [Seed(app: app.bundleID, environment: .production, transactionID: original)]
    }
    return findings
  }

  func hear(
    _ source: Source, of original: String = "1", period: Int64, renewal: Int64? = nil, also other: Source? = nil,
    at seconds: Double
  ) async throws {
    try await hear(source, of: original, periods: period...period, renewal: renewal, also: other, at: seconds)
  }

  func hear(
    _ source: Source, of original: String = "1", periods: ClosedRange<Int64>, renewal: Int64? = nil,
    also other: Source? = nil, at seconds: Double
  ) async throws {
    let findings = findings(source, of: original, periods, renewal: renewal, also: other, at: seconds)
    let message = InboxMessage(
      kind: source == .notificationV1 ? .notification : .evidence,
      body: Array("\(source) \(original) \(periods) \(renewal ?? -1) \(seconds)".utf8), receivedAt: time(seconds))
    let entry = Entry(
      message,
      .accepted(Entry.Acceptance(message, app: app.id, findings: findings, signedAt: nil, title: "test")))
    #expect(try await ledger.append([entry]) == [.stored])
  }

  /// Has the ids in a history that is stored.
  func store(history ids: Set<String>) async throws {
    let (scope, now) = (scope, time(1))
    let history = StoredHistory(
      environment: .production, originalTransactionIDs: ids, transactionIDs: [], revision: "r")
    try await pool.transaction { session throws(DatabaseError) in
      try HistoryTable.note([history], in: scope, at: now, session)
    }
  }

  func stored(_ ids: Set<String>) -> WorkTable.Settlement {
    .stored(StoredHistory(environment: .production, originalTransactionIDs: ids, transactionIDs: [], revision: "r"))
  }

  func askAgain(_ id: String, at seconds: Double) async throws {
    let (scope, now) = (scope, time(seconds))
    try await pool.transaction { session throws(DatabaseError) in
      try WorkTable.askAgain([id], in: scope, unlessDoneSince: now, at: now, in: session)
    }
  }

  func lease(
    at seconds: Double, queue: WorkTable.Queue = .claimed, limit: Int = 10
  ) async throws -> [LeasedCustomer] {
    let (selection, now) = (WorkTable.Selection(scope, queue), time(seconds))
    return try await pool.transaction { session throws(DatabaseError) in
      try WorkTable.lease(
        selection, limit: limit, until: now + .minutes(15), owner: .random(count: 16), at: now, in: session
      ).customers
    }
  }

  func settle(
    _ customers: [LeasedCustomer], _ settlement: WorkTable.Settlement, at seconds: Double
  ) async throws {
    let now = time(seconds)
    try await pool.transaction { session throws(DatabaseError) in
      try WorkTable.settle(customers.map { ($0, settlement) }, at: now, in: session)
    }
  }

  func open() async throws -> [String: OpenLookUp] {
    let scope = scope
    return try await pool.read { session throws(DatabaseError) in
      try ClaimedChangeTable.open(of: ["1", "7", "8", "9"], in: scope, session)
    }
  }

  /// `KIND SUBJECT STATE` of every row, in order.
  func work() async throws -> [String] {
    let app = app
    return try await pool.read { session throws(DatabaseError) in
      try WorkTable.list(of: app, WorkTable.State.allCases, limit: 100, in: session)
        .map { "\($0.kind) \($0.subject) \($0.state.name)" }.sorted()
    }
  }
}

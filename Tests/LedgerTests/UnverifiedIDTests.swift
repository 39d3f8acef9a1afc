@testable import Ledger

@Suite struct `An id that a back end hands in` {
  private func seeds(_ ids: [String], areSigned: Bool = false) -> [TransactionReference] {
    ids.map {
      TransactionReference(app: "com.example.app", environment: .production, transactionID: $0, isSigned: areSigned)
    }
  }

  private func hand(
    in seeds: [TransactionReference], _ source: Source?, isFetched: Bool = false, _ fixture: ClaimFixture,
    at seconds: Double
  ) async throws {
    var findings =
      source.map { fixture.findings($0, of: seeds[0].transactionID, 1...1, at: seconds) }
      ?? Findings(app: fixture.app.bundleID, environment: .production)
    (findings.seeds, findings.isFetched) = (seeds, isFetched)
    let body = Array("\(seeds.map(\.transactionID)) \(seconds)".utf8)
    try await fixture.append(findings, InboxMessage(kind: .evidence, body: body, receivedAt: fixture.time(seconds)))
  }

  @Test func `waits among what is proven where Apple signed it or said it to us, and else apart`() async throws {
    try await ClaimFixture.with { fixture in
      try await hand(in: seeds(["1"]), .signedV2, fixture, at: 1)
      try await hand(in: seeds(["2"], areSigned: true), nil, fixture, at: 2)
      try await hand(in: seeds(["3"]), .verifyReceiptAnswer, isFetched: true, fixture, at: 3)
      try await hand(in: seeds(["4"]), .verifyReceiptAnswer, fixture, at: 4)
      try await hand(in: seeds(["5"]), nil, fixture, at: 5)
      // The receipt proves its own id, and not one that stands beside it.
      try await hand(in: seeds(["6", "7"]), .signedV2, fixture, at: 6)
      #expect(
        try await fixture.work() == [
          "history 1 waiting", "history 2 waiting", "history 3 waiting", "history 6 waiting", "unverifiedID 4 waiting",
          "unverifiedID 5 waiting", "unverifiedID 7 waiting",
        ])
      // Proven later, it waits among the others too.
      try await hand(in: seeds(["5"], areSigned: true), nil, fixture, at: 7)
      #expect(try await fixture.work().contains("history 5 waiting"))
    }
  }

  @Test func `that is known otherwise is asked about as such`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.store(history: ["1"])
      try await hand(in: seeds(["2"], areSigned: true), nil, fixture, at: 1)
      for id in ["1", "2", "3"] { try await hand(in: seeds([id]), nil, fixture, at: 2) }
      #expect(
        try await fixture.work() == ["history 1 waiting", "history 2 waiting", "unverifiedID 3 waiting"])
    }
  }

  /// What is left to another queue stays there for as long as that queue takes.
  @Test func `is not held up by those that are left to another queue`() async throws {
    try await ClaimFixture.with { fixture in
      let ids = (100..<300).map { "\($0)" }
      for id in ids { try await hand(in: seeds([id]), nil, fixture, at: 1) }
      for id in ids { try await hand(in: seeds([id], areSigned: true), nil, fixture, at: 2) }
      try await hand(in: seeds(["7"]), nil, fixture, at: 3)
      var leased: [String] = []
      for _ in 0..<3 { leased += try await fixture.lease(at: 10, queue: .unverified, limit: 16).map(\.subject) }
      #expect(leased == ["7"])
      // Whoever waits for one is not kept waiting for the other queue.
      let scope = fixture.scope
      let waited = try await fixture.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          HistoryJobTable.Selection(scope, .unverified, subjects: ["100"]), limit: 1, until: fixture.time(100),
          owner: .random(count: 16), at: fixture.time(11), in: session
        ).customers
      }
      #expect(waited.map(\.subject) == ["100"])
    }
  }

  @Test func `beside something proven is not asked about while too many wait`() async throws {
    try await ClaimFixture.with { fixture in
      let scope = fixture.scope
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.queue(
          (0..<HistoryJobTable.mostUnproven).map { number in
            HistoryJobTable.ClaimedRow(
              scope: scope, kind: .unverifiedID, subject: "9\(number)", dueAt: fixture.time(0),
              createdAt: fixture.time(0))
          }, in: session)
      }
      try await hand(in: seeds(["1", "2"]), .signedV2, fixture, at: 1)
      let states = try await fixture.pool.read { session throws(DatabaseError) in
        try HistoryJobTable.states(of: ["1", "2"], as: .unverifiedID, in: scope, session)
      }
      #expect(states.isEmpty)
    }
  }

  @Test func `is one of so many of its message, those that are most recent`() async throws {
    try await ClaimFixture.with { fixture in
      let most = HistoryJobTable.mostUnverifiedOfMessage
      try await hand(in: seeds((90..<(100 + most)).map { "\($0)" }), nil, fixture, at: 1)
      #expect(try await fixture.work() == (100..<(100 + most)).map { "unverifiedID \($0) waiting" })
    }
  }
}

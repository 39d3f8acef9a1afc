@testable import Ledger

@Suite struct `An id that a back end hands in` {
  private func seeds(_ ids: [String], areSigned: Bool = false) -> [Seed] {
    ids.map { Seed(app: "com.example.app", environment: .production, transactionID: $0, isSigned: areSigned) }
  }

  private func hand(
    in seeds: [Seed], _ source: Source?, isFetched: Bool = false, _ fixture: ClaimFixture, at seconds: Double
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

  @Test func `is one of so many of its message, those that are most recent`() async throws {
    try await ClaimFixture.with { fixture in
      let most = WorkTable.mostUnverifiedOfMessage
      try await hand(in: seeds((90..<(100 + most)).map { "\($0)" }), nil, fixture, at: 1)
      #expect(try await fixture.work() == (100..<(100 + most)).map { "unverifiedID \($0) waiting" })
    }
  }
}

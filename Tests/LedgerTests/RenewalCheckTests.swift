@testable import Ledger

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

  @Test func `are not dropped for what the customer decided before the period ended`() async throws {
    try await ClaimFixture.with { fixture in
      let (scope, end) = (fixture.scope, Double(2 * 86_400))
      for id in ["1", "2"] { try await fixture.hear(.signedV2, of: id, period: 1, renewal: 1, at: 10) }
      let checks = ["1", "2"].map { check($0, due: end, asOf: 10, fixture) }
      try await fixture.pool.transaction { session throws(DatabaseError) in
        try RenewalCheckTable.plan(checks, in: scope, session)
      }
      // Another product from the next renewal on; and no renewal at all.
      try await fixture.hear(.signedV2, of: "1", period: 1, renewal: 1, at: 400)
      try await fixture.hear(.signedV2, of: "2", period: 1, renewal: 0, at: 400)
      let asked = try await fixture.pool.transaction { session throws(DatabaseError) in
        try RenewalCheckTable.begin(in: scope, limit: 10, at: fixture.time(end), session).asked
      }
      #expect(asked == 1)
      #expect(try await fixture.work() == ["history 1 waiting"])
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

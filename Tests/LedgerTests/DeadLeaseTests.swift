@testable import Ledger

/// What a process leased that is gone.
@Suite struct `A lease of a process that is gone` {
  private static let (gone, alive) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))

  private static func lease(_ fixture: ClaimFixture, _ owner: [UInt8], at seconds: Double) async throws -> [String] {
    let (selection, now) = (HistoryJobTable.Selection(fixture.scope), fixture.time(seconds))
    return try await fixture.pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.lease(
        selection, limit: 1, until: now + .minutes(15), owner: WorkOwner.next(of: owner), at: now, in: session
      ).customers.map(\.subject)
    }
  }

  private static func free(_ fixture: ClaimFixture, at seconds: Double) async throws -> Int {
    let now = fixture.time(seconds)
    return try await fixture.pool.transaction { session throws(DatabaseError) in
      try HistoryJobTable.freeLeasesOfTheDead(
        endingBefore: now + .minutes(15) - ProcessTable.silence, at: now, in: session)
    }
  }

  @Test func `is free after fifteen seconds, and that of a living one is not`() async throws {
    try await ClaimFixture.with { fixture in
      for id in ["1", "7"] { try await fixture.askAgain(id, at: 0) }
      try await fixture.pool.read { session throws(DatabaseError) in
        for (process, name) in [(Self.gone, "web-1:7"), (Self.alive, "web-2:9")] {
          try ProcessTable.beat(process, name: name, in: session)
        }
      }
      #expect(try await Self.lease(fixture, Self.gone, at: 1) == ["1"])
      #expect(try await Self.lease(fixture, Self.alive, at: 1) == ["7"])
      #expect(try await Self.free(fixture, at: 30) == 0, "both are alive")
      try await fixture.pool.read { session throws(DatabaseError) in
        try ProcessTable.age(Self.gone, by: ProcessTable.silence.milliseconds + 1, in: session)
      }
      let waiting = try await fixture.pool.read {
        [scope = fixture.scope, now = fixture.time(5)] session throws(DatabaseError) in
        try WaitingLookUps.read(scope, at: now, in: session)
      }
      #expect(
        waiting.leased == [
          .init(process: "web-1:7", isAlive: false, count: 1), .init(process: "web-2:9", isAlive: true, count: 1),
        ])
      #expect(try await Self.free(fixture, at: 15) == 0, "a process that has just begun may not have said so yet")
      #expect(try await Self.free(fixture, at: 16) == 1)
      #expect(try await Self.lease(fixture, Self.alive, at: 17) == ["1"])
      #expect(try await Self.free(fixture, at: 60) == 0)
    }
  }

  @Test func `of a build that does not say that it is alive stays`() async throws {
    try await ClaimFixture.with { fixture in
      try await fixture.askAgain("1", at: 0)
      #expect(try await Self.lease(fixture, Self.gone, at: 1) == ["1"])
      #expect(try await Self.free(fixture, at: 60) == 0)
    }
  }
}

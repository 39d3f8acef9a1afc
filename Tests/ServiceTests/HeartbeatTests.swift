import Database
import JSON
import Ledger
import Purchases
import Runtime
import Service
import Simulator
import Support
import Testing
import Time
import Truth

@Suite struct `The heartbeat` {
  private func heartbeat(_ kept: KeptUp) async throws -> Heartbeat? {
    try await kept.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.all(in: session).first { $0.scope.environment == .sandbox }
    }
  }

  @Test func `comes back, is lost with Apple's reason, and is well again`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world) { kept in
      kept.send(.v2)
      let http = kept.asking()
      let check = HeartbeatCheck(
        client: http.client, ledger: Ledger(pool: kept.pool), every: .hours(24), within: .minutes(10),
        clock: kept.clock.clock)
      let place = try await kept.place()
      #expect(try await check.check(place) == .asked)
      let second = try await check.check(place)
      #expect(second == .waiting || second == .returned, "another process has it")
      // The simulated App Store sends with the world's time.
      try await kept.advance(.minutes(1))
      let isBack = try await second == .returned ? true : eventually { try await check.check(place) == .returned }
      #expect(isBack)
      #expect(try await heartbeat(kept)?.lostSince == nil)

      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "times": .null])
      try await kept.advance(.hours(25))
      #expect(try await check.check(place) == .asked)
      let asked = try #require(try await heartbeat(kept)).askedAt
      try await kept.advance(.minutes(11))
      let lost = try await check.check(place)
      guard case .lost = lost else { throw NotLost(finding: lost) }
      #expect(try await check.check(place) == .waiting, "said once")
      #expect(try await heartbeat(kept)?.lostSince == asked)

      try await kept.mend()
      try await kept.advance(.hours(25))
      #expect(try await check.check(place) == .asked)
      #expect(try await heartbeat(kept)?.lostSince == asked, "lost until one comes back")
      try await kept.advance(.minutes(1))
      let isWell = try await eventually { try await check.check(place) == .returned }
      #expect(isWell)
      #expect(try await heartbeat(kept)?.lostSince == nil)
      await http.end()
    }
  }
}

private struct NotLost: Error {
  let finding: HeartbeatCheck.Finding
}

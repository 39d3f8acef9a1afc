import Database
import Ledger
import Service
import Simulator
import Support
import Testing
import Time
import Truth

@Suite struct `A running service` {
  @Test func `compares its apps with Apple by itself, once of all processes`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world, { $0.reconcileEvery = .hours(24) }) { kept in
      let isCompared = try await eventually {
        try await kept.rowCount("reconciliations WHERE finished_until IS NOT NULL") == 2
      }
      #expect(isCompared, "Production and the Sandbox")
      let (place, now) = (try await kept.place(), kept.clock.clock.now())
      func claims(at instant: Milliseconds) async throws -> Bool {
        try await kept.pool.transaction { session throws(DatabaseError) in
          try ReconciliationTable.claim(place.scope, every: .hours(24), at: instant, in: session)
        }
      }
      #expect(try await !claims(at: now + .hours(23)))
      #expect(try await claims(at: now + .hours(25)))
      #expect(try await !claims(at: now + .hours(25)))
    }
  }
}

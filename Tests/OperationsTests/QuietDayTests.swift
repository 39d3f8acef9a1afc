import Database
import Ledger
import Operations
import Purchases
import Rollout
import Testing
import Time

/// Days of a small app on which Apple sent nothing: they have no row of completeness.
@Suite struct `A day without notifications` {
  private static let now = Operated.now
  private static let today = Milliseconds(now.sinceEpoch / 86_400_000 * 86_400_000)

  /// The days that count as measured, of the two before today.
  private func measured(_ here: Operated) async throws -> Int {
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    return try await advance.plan(at: Self.now, on: here.connection).evidence.measuredDays
  }

  private func finish(until end: Milliseconds, _ here: Operated) async throws {
    let scope = Scope(app: here.app.id, environment: .sandbox)
    try await here.connection.transaction { session throws(DatabaseError) in
      try ReconciliationTable.finish(scope, from: nil, until: end, in: session)
    }
  }

  @Test func `is measured once everything that Apple sent up to its end was compared`() async throws {
    let here = try await Operated()
    let scope = Scope(app: here.app.id, environment: .sandbox)
    #expect(try await measured(here) == 0)
    try await here.connection.transaction { session throws(DatabaseError) in
      let day = Completeness(expected: 3, arrived: 2, recovered: 1)
      try CompletenessTable.put(
        [Self.today - .days(2): day], .notifications, of: scope, at: Self.now, in: session)
    }
    #expect(try await measured(here) == 1)
    try await finish(until: Self.today - .hours(1), here)
    #expect(try await measured(here) == 1, "yesterday had not ended")
    try await finish(until: Self.today, here)
    #expect(try await measured(here) == 2)
  }

  @Test func `counts no longer when the app went back below record after it`() async throws {
    let here = try await Operated()
    let scope = Scope(app: here.app.id, environment: .sandbox)
    try await finish(until: Self.now, here)
    #expect(try await measured(here) == 2)
    try await here.connection.transaction { session throws(DatabaseError) in
      try EvidenceTable.add(.voided, of: scope, at: Self.today - .hours(30), "record to legacy", in: session)
    }
    #expect(try await measured(here) == 1)
  }
}

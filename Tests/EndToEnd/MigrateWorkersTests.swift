import Glibc
import JSON
import Support
import Testing
import Time

/// A job that several processes carry out at once.
@Suite struct `A migration of three processes` {
  @Test func `asks Apple as often as one process does, and comes to the same`() async throws {
    try await MigrateSite.with(customers: 60) { site in
      // A fault that does no harm counts the calls that it meets.
      try await site.apple.control("fault", "fault=slow", "on=api", "value=0", "times=null")
      let table = site.table(in: site.database.place)
      let (alone, expected) = try await outcome(of: table, site, processes: 1)
      let (together, found) = try await outcome(of: table, try await site.withAnotherLedger(), processes: 3)
      #expect(together == alone && alone > 0, "\(together) calls instead of \(alone)")
      #expect(found == expected && !found.purchases.isEmpty)
    }
  }

  /// The calls of a job, and what it came to.
  private func outcome(
    of table: String, _ site: MigrateSite, processes: Int
  ) async throws -> (calls: Int64, outcome: MigrateOutcome) {
    let before = try await site.apple.matched()
    var services: [RunningProgram] = []
    for _ in 0..<processes { services.append(try await site.serve()) }
    let job = try await site.start(table, "--app", MigrateSite.app)
    let status = try await site.ended(job)
    for service in services { #expect(await service.end(SIGTERM) == 0, "\(service.notes)") }
    #expect(status["state"] == "done" && MigrateSite.balances(status), "\(status)")
    return (try await site.apple.matched() - before, try await site.outcome(job))
  }
}

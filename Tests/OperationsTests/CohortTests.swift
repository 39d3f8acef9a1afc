@Suite struct `A cohort` {
  private let now = Operated.now
  private let kim = Operated.kim
  private let members: [CohortTable.Member] = [
    .init(.originalTransactionID, "1"), .init(.originalTransactionID, "2"), .init(.userID, "kim"),
  ]

  private func change(_ change: SetCohort.Change, _ entry: String, _ here: Operated) async throws {
    let set = SetCohort(change, of: Operated.bundleID, in: .sandbox)
    try await here.expect("rollout.cohort com.example.app Sandbox: \(entry): ticket 4") {
      try await set.plan(on: here.connection)
    } apply: {
      try await set.apply($0, by: kim, at: now, on: here.connection)
    }
  }

  @Test func `grows, shrinks and is cleared, and the audit says by how many`() async throws {
    let here = try await Operated()
    try await change(.add(members), "3 added, 0 removed", here)
    try await change(.remove([members[0], .init(.userID, "nobody")]), "0 added, 1 removed", here)
    try await change(.add(members), "1 added, 0 removed", here)
    try await change(.clear, "0 added, 3 removed", here)
    // What changes nothing is no entry of the audit.
    let again = SetCohort(.clear, of: Operated.bundleID)
    let (plan, audit) = (try await again.plan(on: here.connection), try await here.audit())
    #expect(plan.cohorts.map(\.scope.environment) == [.production, .sandbox])
    try await again.apply(plan, by: kim, at: now, on: here.connection)
    #expect(try await here.audit() == audit)
  }

  @Test func `has a most, and is an app's`() async throws {
    let here = try await Operated()
    let many = (0...SetCohort.mostMembers).map { CohortTable.Member(.originalTransactionID, "\($0)") }
    try await here.expectRefusal(CohortTooLarge.self) {
      _ = try await SetCohort(.add(many), of: Operated.bundleID).plan(on: here.connection)
    }
    try await here.expectRefusal(NoSuchApp.self) {
      _ = try await SetCohort(.clear, of: "com.example.none").plan(on: here.connection)
    }
  }
}

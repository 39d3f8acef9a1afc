@Suite struct `A cohort` {
  private let now = Operated.now
  private let kim = Operated.kim

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
    let members = ["1", "2", "customer:3"].compactMap { CohortMember($0) }
    let nobody = try #require(CohortMember("user:nobody"))
    try await change(.add(members), "3 added, 0 removed", here)
    try await change(.remove([members[0], nobody]), "0 added, 1 removed", here)
    try await change(.add(members), "1 added, 0 removed", here)
    try await change(.clear, "0 added, 3 removed", here)
    // What changes nothing is no entry of the audit.
    let again = SetCohort(.clear, of: Operated.bundleID)
    let (plan, audit) = (try await again.plan(on: here.connection), try await here.audit())
    #expect(plan.cohorts.map(\.scope.environment) == [.production, .sandbox])
    try await again.apply(plan, by: kim, at: now, on: here.connection)
    #expect(try await here.audit() == audit)
    try await here.expectRefusal(NoSuchApp.self) {
      _ = try await SetCohort(.clear, of: "com.example.none").plan(on: here.connection)
    }
  }
}

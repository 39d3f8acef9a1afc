/// Demands that an operator lowered, which are no proof by the build's own.
@Suite struct `Evidence by lowered demands` {
  private let now = Operated.now
  private let kim = Operated.kim

  @Test func `takes the step, and the plan and the audit name what was waived`() async throws {
    let here = try await Operated()
    let scope = AppScope(app: here.app.id, environment: .sandbox)
    for kind in [CredentialTable.Kind.apiKey, .sharedSecret] {
      try await here.execute(
        """
        INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
        VALUES (\(here.app.id.number), \(kind.rawValue), 'a', '', 'x', 1)
        """)
    }
    try await here.execute("UPDATE flags SET stage = 'shadow', changed_at = 1")
    try await here.connection.transaction { [now] session throws(DatabaseError) in
      for customer in UInt8(1)...3 {
        let name = [UInt8](repeating: customer, count: 16)
        _ = try ComparisonTable.add(
          .init(cause: "equal", counts: false, differences: [], impact: nil),
          of: .init(scope: scope, window: now, customer: name, receipt: name), epoch: 1, at: now, settlingAt: nil,
          in: session)
      }
    }
    let strict = try await AdvanceRollout(Operated.bundleID, in: .sandbox).plan(
      at: now, on: here.connection)
    #expect(strict.missing.map(\.name) == ["completeness", "comparisons"] && strict.waived == [])
    var demand = RolloutEvidence.Requirements()
    (demand.mostImpact, demand.completeDays) = (0.9, 0)
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox, asking: demand)
    try await here.expect(
      "rollout.set com.example.app Sandbox: shadow to ramp 1 %, by lowered demands without completeness, comparisons: ticket 4"
    ) {
      let plan = try await advance.plan(at: now, on: here.connection)
      #expect(plan.isProven && plan.waived.map(\.name) == ["completeness", "comparisons"], "\(plan.missing)")
      return plan
    } apply: {
      _ = try await advance.apply($0, forced: false, by: kim, at: now, on: here.connection)
    }
  }
}

/// Faults of the composer, each alone: what the shadow finds of it decides whether the app may take its next step.
///
/// Four faults and 60 customers in a test; `scripts/soak advance` has 40 and 2,000.
@Suite struct `An advance with a faulty composer` {
  /// What comparisons with one composer came to.
  private struct Outcome {
    var compared = 0
    /// Comparisons that are not those of a sound answer.
    var found = 0
    /// The comparisons, a customer each, in which access changes.
    var affected: Set<Int64> = []
  }

  @Test func `is refused for each fault that changes access, by the comparisons that show it, and for no other`()
    async throws
  {
    #expect(Set(ComposingFault.seeded).count == 40)
    let sound = ResponseComposer(try ComposingFault.rules(nil))
    let customers = try ComparedCustomer.all(of: TestSize.advanceCustomers, sound)
    let isLong = TestSize.advanceCustomers >= 1_000
    let app = try await ProvenApp()
    let without = try await Self.outcome(of: sound, customers, app)
    #expect(without.compared == customers.count && without.found == 0 && without.affected == [])
    try await Self.expectDecision(on: without, "no fault", app)
    var (refused, taken) = (0, 0)
    for fault in ComposingFault.seeded.prefix(TestSize.advanceFaults) {
      let outcome = try await Self.outcome(of: ResponseComposer(try ComposingFault.rules(fault)), customers, app)
      // Some happen to few customers: of a thousand, everything happens to somebody.
      if isLong { #expect(outcome.found > 0, "\(fault) is not found") }
      try await Self.expectDecision(on: outcome, "\(fault)", app)
      if outcome.affected.isEmpty { taken += 1 } else { refused += 1 }
      if isLong {
        print(
          "soak.advance.\(fault): of \(outcome.compared) customers \(outcome.found) differ, "
            + "\(outcome.affected.count) have other access: \(outcome.affected.isEmpty ? "taken" : "refused")")
      }
    }
    #expect(refused >= 2 && taken >= 2, "\(refused) refused, \(taken) taken")
    await app.close()
  }

  /// Compares everybody's answers, and writes the comparisons into the ledger in place of those before.
  private static func outcome(
    of composer: ResponseComposer, _ customers: [ComparedCustomer], _ app: ProvenApp
  ) async throws -> Outcome {
    try await app.forget()
    let (scope, most) = (app.scope, 250)
    return try await withThrowingTaskGroup(of: [FaultyComparison].self, returning: Outcome.self) { group in
      for start in stride(from: 0, to: customers.count, by: most) {
        let part = customers[start..<min(start + most, customers.count)]
        group.addTask { try part.map { try $0.compared(by: composer, in: scope) } }
      }
      var outcome = Outcome()
      for try await comparisons in group {
        let ids = try await app.add(comparisons)
        for (comparison, added) in zip(comparisons, ids) {
          let id = try #require(added)
          outcome.compared += 1
          if comparison.isFound { outcome.found += 1 }
          if comparison.changesAccess { outcome.affected.insert(id) }
        }
      }
      return outcome
    }
  }

  /// The step is refused if somebody's access changes, and only then.
  private static func expectDecision(on outcome: Outcome, _ name: String, _ app: ProvenApp) async throws {
    // As strict as so many customers can prove: one of them whose access changes is one too many.
    var demand = RolloutEvidence.Requirements()
    demand.mostImpact = ConfidenceBound.upper(cases: 0, of: outcome.compared)
    let plan = try await app.plan(asking: demand)
    #expect(plan.step?.stage == .ramp)
    let affected = outcome.affected.count
    #expect(plan.evidence.customers == outcome.compared, "\(name): \(plan.evidence)")
    #expect(plan.evidence.affected == affected, "\(name)")
    let shown = try await app.affecting()
    #expect(shown.count == min(affected, 100) && outcome.affected.isSuperset(of: shown.map(\.id)), "\(name)")
    #expect(shown.allSatisfy { $0.judgement.counts && !$0.judgement.differences.isEmpty }, "\(name)")
    // By the build's own demand, a few of many are no reason.
    let standard = try await app.plan()
    let mayGo =
      ConfidenceBound.upper(cases: affected, of: outcome.compared) <= RolloutEvidence.Requirements().mostImpact
    #expect(standard.isProven == mayGo, "\(name): \(standard.missing)")
    guard affected > 0 else {
      #expect(plan.missing == [], "\(name)")
      #expect(try await app.take(plan).map(\.move.to) == [.ramp])
      return
    }
    #expect(plan.missing.map(\.name) == ["impact"], "\(name): \(plan.missing)")
    let refusal = await #expect(throws: EvidenceMissing.self) { _ = try await app.take(plan) }
    #expect(refusal?.exitStatus == .refused)
    let list = "switchyard compare list --app \(ProvenApp.bundleID) --environment Production --impact"
    let said = refusal?.description ?? ""
    #expect(said.contains("\(affected) of \(outcome.compared) customers") && said.contains(list), "\(name): \(said)")
  }
}

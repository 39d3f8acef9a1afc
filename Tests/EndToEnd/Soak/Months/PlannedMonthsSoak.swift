/// For `scripts/soak auto`: months from legacy to complete by plan and proof.
///
/// They take over an hour.
@Suite(.soak) struct PlannedMonthsSoak {
  @Test func `take nobody's access, and the reports say so`() async throws {
    let customers = Program.setting("SWITCHYARD_SOAK_AUTO_CUSTOMERS") ?? 80
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? SeededRandom().seed >> 1
    PlannedMover.say("SWITCHYARD_SOAK_SEED=\(seed)")
    let outcome = try await SwitchedMonths.byPlan(customers: customers, lost: 3, seed: seed)
    print("soak.auto: seed \(seed), \(outcome.summary)")
    outcome.expectNobodyDeprived(seed)
    for app in outcome.apps {
      for stage in PlannedMover.allStages + [PlannedMover.migration] {
        let place = stage == PlannedMover.migration ? "record" : stage
        let strikes = outcome.strikes.filter { $0.app == app && $0.stage == stage && $0.struckIn == place }
        let (services, databases) = (strikes.count { $0.victim == .service }, strikes.count { $0.victim == .database })
        #expect(services >= 2 && databases >= 1, "seed \(seed), \(app) in \(stage): \(strikes)")
      }
    }
    #expect(outcome.ledgered == Set(outcome.apps), "seed \(seed)")
    for stage in PlannedMover.allStages {
      #expect(outcome.story.count { $0.hasSuffix(" comes to \(stage)") } >= 3, "seed \(seed), \(stage)")
    }
    #expect(outcome.story.count { $0.contains(" is signed off: ") } == 3, "seed \(seed)")
  }
}

extension SwitchedMonths {
  /// Moves the apps by their evidence, on a server that is killed.
  static func byPlan(customers: Int, lost: Int, seed: UInt64) async throws -> Outcome {
    let database = try await WorldDatabase.start(at: PlannedMover.start)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await database.run() }
      defer { group.cancelAll() }
      return try await live(
        customers: customers, lost: lost, seed: seed, with: database.program, in: database.place, at: database.time,
        by: PlannedMover(database))
    }
  }
}

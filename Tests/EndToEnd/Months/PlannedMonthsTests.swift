import Support
import Testing

/// The same months as of `Eighteen months from legacy to complete`, for `scripts/soak auto` alone: they take far longer.
@Suite(.enabled(if: Program.setting("SWITCHYARD_SOAK_AUTO_CUSTOMERS") != nil, "for scripts/soak auto"))
struct `Months from legacy to complete by plan and proof` {
  @Test func `take nobody's access, and the reports say so`() async throws {
    let customers = Program.setting("SWITCHYARD_SOAK_AUTO_CUSTOMERS") ?? 60
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? SeededRandom().seed >> 1
    let outcome = try await SwitchedMonths.byPlan(customers: customers, lost: 3, seed: seed)
    for line in outcome.story { print("soak.auto: \(line)") }
    print("soak.auto: seed \(seed), \(outcome.summary)")
    outcome.expectNobodyDeprived(seed)
    // Two in each stage of each of three apps, and two while each is migrated.
    #expect(outcome.kills >= 2 * 3 * (PlannedMover.allStages.count + 1), "seed \(seed)")
    for stage in PlannedMover.allStages {
      #expect(outcome.story.count { $0.hasSuffix(" comes to \(stage)") } >= 3, "seed \(seed), \(stage)")
    }
    #expect(outcome.story.count { $0.contains(" is signed off: ") } == 3, "seed \(seed)")
  }
}

/// For `scripts/soak months`: eighteen months from V1 to V2.
@Suite(.soak) struct MonthsSoak {
  private static let customers = Program.setting("SWITCHYARD_SOAK_MONTHS_CUSTOMERS")
  private static let kills = Program.setting("SWITCHYARD_SOAK_MONTHS_KILLS") ?? 50

  @Test func `end in the truth after one reconciliation, customer by customer, with every fault and two processes`()
    async throws
  {
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? SeededRandom().seed >> 1
    var plan = MonthsPlan(customers: Self.customers ?? 1_000, kills: Self.kills, seed: seed)
    plan.percent = Program.setting("SWITCHYARD_SOAK_MONTHS_PERCENT") ?? plan.percent
    plan.isLoud = Self.customers != nil
    let outcome = try await Months.live(plan)
    for figure in outcome.figures where plan.isLoud { print("soak.months.\(figure.name): \(figure.value)") }
    #expect(
      outcome.differences.isEmpty, "seed \(seed): \(outcome.differences.count): \(outcome.differences.prefix(40))")
    #expect(outcome.complaints == [], "seed \(seed)")
    #expect(outcome.compared > plan.customers, "seed \(seed)")
    #expect(outcome["kills"] == plan.kills, "seed \(seed)")
  }
}

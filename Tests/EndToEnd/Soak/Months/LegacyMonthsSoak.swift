/// For `scripts/soak legacy`: months of an app on V1 only.
@Suite(.soak) struct LegacyMonthsSoak {
  private static let customers = Program.setting("SWITCHYARD_SOAK_LEGACY_CUSTOMERS")
  private static let days = Program.setting("SWITCHYARD_SOAK_LEGACY_DAYS")

  private func plan(days: Int) -> LegacyMonthsPlan {
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? SeededRandom().seed >> 1
    var plan = LegacyMonthsPlan(customers: Self.customers ?? 300, days: Self.days ?? days, seed: seed)
    plan.isLoud = Self.customers != nil
    return plan
  }

  private func report(_ outcome: LegacyMonths.Outcome, _ plan: LegacyMonthsPlan, _ name: String) {
    guard plan.isLoud else { return }
    for (figure, value) in [
      ("compared", outcome.compared), ("entitled", outcome.entitled), ("held", outcome.held),
      ("untold", outcome.untold.count), ("differences", outcome.differences.count),
      ("notifications", outcome.notifications), ("reports", outcome.reports), ("histories", outcome.histories),
      ("statuses", outcome.statuses),
      ("renewalChecks", outcome.renewalChecks), ("outages", outcome.outages), ("kills", outcome.kills),
      ("seconds", outcome.seconds),
    ] {
      print("soak.legacy.\(name).\(figure): \(value)")
    }
  }

  @Test func `show at each day's end who has access and who has not, for at most one call a claimed change`()
    async throws
  {
    let plan = plan(days: 60)
    let outcome = try await LegacyMonths.live(plan)
    report(outcome, plan, "plain")
    #expect(outcome.differences.isEmpty, "seed \(plan.seed): \(outcome.differences.prefix(10))")
    #expect(outcome.entitled > plan.customers * plan.days / 3, "seed \(plan.seed): \(outcome)")
    #expect(outcome.entitled < outcome.compared, "nobody lapsed: seed \(plan.seed): \(outcome)")
    let most = outcome.reports + outcome.renewalChecks
    #expect(outcome.histories <= most && outcome.statuses <= most, "seed \(plan.seed): \(outcome)")
  }

  @Test func `lose nobody by a day without Apple's API, nor by a service that is killed while it asks`() async throws {
    var plan = plan(days: 42)
    plan.outages = max(2, plan.days / 20)
    plan.kills = Set(stride(from: 5, to: plan.days, by: 12))
    let outcome = try await LegacyMonths.live(plan)
    report(outcome, plan, "faulty")
    #expect(outcome.differences.isEmpty, "seed \(plan.seed): \(outcome.differences.prefix(10))")
    #expect(outcome.entitled > plan.customers * plan.days / 3, "seed \(plan.seed): \(outcome)")
    #expect(outcome.outages == plan.outages && outcome.held > 0, "seed \(plan.seed): \(outcome)")
    #expect(outcome.kills == plan.kills.count)
  }
}

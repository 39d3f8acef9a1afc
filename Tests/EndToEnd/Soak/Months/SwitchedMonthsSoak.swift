/// For `scripts/soak switch`: eighteen months of three apps from legacy to complete, moved by hand.
@Suite(.soak) struct SwitchedMonthsSoak {
  private static let customers = Program.setting("SWITCHYARD_SOAK_SWITCH_CUSTOMERS") ?? 100

  @Test func `take no customer's access, whatever is lost and whichever process is killed`() async throws {
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? SeededRandom().seed >> 1
    let outcome = try await SwitchedMonths.byHand(customers: Self.customers, lost: 3, seed: seed, HandMover())
    print("soak.switch: seed \(seed), \(outcome.summary)")
    outcome.expectNobodyDeprived(seed)
  }
}

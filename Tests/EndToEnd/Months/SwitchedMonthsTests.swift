import Support
import Testing

@Suite struct `Eighteen months from legacy to complete` {
  /// Of each app; `scripts/soak switch` asks for more.
  private static let customers = Program.setting("SWITCHYARD_SOAK_SWITCH_CUSTOMERS")

  @Test func `take nobody's access, whatever is lost and whoever is killed`() async throws {
    // Of a few customers another world may have hardly a subscription: other seeds are for `scripts/soak switch`.
    let drawn = Self.customers == nil ? 1_923_987_471_592_573_246 : SeededRandom().seed >> 1
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? drawn
    let outcome = try await SwitchedMonths.live(customers: Self.customers ?? 4, lost: 3, seed: seed)
    print(
      "soak.switch: seed \(seed), \(outcome.asked) answers, \(outcome.askedWithAccess) about somebody with access, "
        + "\(outcome.postponed) were 21005, \(outcome.untaken) not taken, \(outcome.extended) told of more, \(outcome.kills) kills, "
        + "\(outcome.seconds) s, \(outcome.answers.sorted { $0.key < $1.key })")
    #expect(outcome.deprived.isEmpty, "seed \(seed): \(outcome.deprived.count): \(outcome.deprived.prefix(20))")
    #expect(outcome.complaints == [], "seed \(seed)")
    #expect(outcome.askedWithAccess > outcome.asked / 5 && outcome.postponed < outcome.asked / 10, "seed \(seed)")
  }
}

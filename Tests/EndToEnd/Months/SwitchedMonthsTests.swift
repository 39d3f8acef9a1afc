import Support
import Testing

@Suite struct `Eighteen months from legacy to complete` {
  /// Of each app; `scripts/soak switch` asks for more.
  private static let customers = Program.setting("SWITCHYARD_SOAK_SWITCH_CUSTOMERS")

  @Test func `take nobody's access, whatever is lost and whoever is killed`() async throws {
    // Of a few customers another world may have hardly a subscription: other seeds are for `scripts/soak switch`.
    let drawn = Self.customers == nil ? 1_923_987_471_592_573_246 : SeededRandom().seed >> 1
    let seed = Program.setting("SWITCHYARD_SOAK_SEED").map { UInt64($0) } ?? drawn
    let outcome = try await SwitchedMonths.byHand(customers: Self.customers ?? 4, lost: 3, seed: seed)
    print("soak.switch: seed \(seed), \(outcome.summary)")
    outcome.expectNobodyDeprived(seed)
  }
}

extension SwitchedMonths.Outcome {
  /// Figures for whoever reads the soak's output.
  var summary: String {
    "\(asked) answers, \(askedWithAccess) about somebody with access, postponed \(postponed.sorted { $0.key < $1.key }), "
      + "\(untaken) not taken, from the ledger in ramp or live: \(ledgered.sorted()), "
      + "\(extended) told of more, \(kills) kills, \(seconds) s, \(answers.sorted { $0.key < $1.key })"
  }

  /// Nobody who has access was told otherwise, and all went as it should.
  func expectNobodyDeprived(_ seed: UInt64) {
    #expect(deprived.isEmpty, "seed \(seed): \(deprived.count): \(deprived.prefix(20))")
    #expect(complaints == [], "seed \(seed)")
    #expect(askedWithAccess > asked / 5 && postponed.values.reduce(0, +) < asked / 10, "seed \(seed)")
    #expect(untaken < asked / 20, "seed \(seed)")
  }
}

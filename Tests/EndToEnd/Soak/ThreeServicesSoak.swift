/// For `scripts/soak ramp`.
@Suite(.soak) struct StagesSoak {
  @Test func `three services follow each change of the stage within 5 seconds`() async throws {
    let rounds = Program.setting("SWITCHYARD_SOAK_RAMP_ROUNDS") ?? 5
    try await ThreeServicesStory.with { three, clients in try await three.followStages(clients, rounds: rounds) }
  }
}

/// For `scripts/soak guard`.
@Suite(.soak) struct GuardSoak {
  @Test func `three services return to shadow within 5 seconds of the evidence`() async throws {
    let rounds = Program.setting("SWITCHYARD_SOAK_GUARD_ROUNDS") ?? 5
    try await ThreeServicesStory.with { three, clients in try await three.followGuard(clients, rounds: rounds) }
  }
}

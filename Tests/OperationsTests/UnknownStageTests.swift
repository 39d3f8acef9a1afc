/// A stage that a newer binary set, on the database that this one shares with it.
@Suite struct `A stage that this binary does not know` {
  @Test func `is treated as record and told by its name`() async throws {
    let here = try await Operated()
    try await here.execute("UPDATE flags SET stage = 'beyond', ramp_share = 500, epoch = 9 WHERE environment = 2")
    let all = try await RolloutStatus.all(of: Operated.bundleID, at: Operated.now, on: here.connection)
    let newer = try #require(all.first { $0.standing.flag.environment == .sandbox })
    #expect(newer.standing.flag.stage == .record && newer.standing.flag.unknownStage == "beyond")
    #expect(newer.standing.flag.share == nil && newer.standing.flag.epoch == 9 && newer.verdict == nil)
    let known = try #require(all.first { $0.standing.flag.environment == .production })
    #expect(known.standing.flag.stage == .record && known.standing.flag.unknownStage == nil)
    let stage = newer.standing.flag.stage
    #expect(stage.notifications == .record && stage.answers == .apple && !stage.comparesAnswers)
  }
}

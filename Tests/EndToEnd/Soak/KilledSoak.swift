/// For `scripts/soak killed`.
@Suite(.soak) struct KilledSoak {
  private static let kills = Program.setting("SWITCHYARD_SOAK_KILLS") ?? 100
  private static let customers = Program.setting("SWITCHYARD_SOAK_CUSTOMERS") ?? 200

  @Test func `a killed service knows what an undisturbed one knows, which is the truth`() async throws {
    var random = SeededRandom()
    let seed = random.seed
    let story = try MixedStory(
      customers: Self.customers, days: 100, seed: seed, telling: .both, start: WallClock.system.now() - .days(101))
    let undisturbed = try await Self.tell(story, story.messages, kills: 0, seed)
    let messages = (story.messages + story.messages.filter { _ in Bool.random(using: &random) })
      .shuffled(using: &random)
    let killed = try await Self.tell(story, messages, kills: Self.kills, seed)
    #expect(undisturbed.count > 5 * Self.customers)
    let changes = killed.difference(from: undisturbed)
    #expect(changes.isEmpty, "seed \(seed): \(changes)")
  }

  /// The dump without user IDs, which have the date of their arrival.
  private static func tell(
    _ story: MixedStory, _ messages: [MixedStory.Message], kills: Int, _ seed: UInt64
  ) async throws -> [String] {
    let told = try await ToldService(story)
    var left = messages
    for life in 0...kills {
      let running = try await told.serve()
      let goal = life < kills ? max(1, left.count / (kills + 1)) : nil
      left = await told.tell(left, to: running, killingAfter: goal).left
      await running.end(life < kills ? SIGKILL : SIGTERM)
    }
    await told.end()
    #expect(left.isEmpty, "\(left.count) messages were not acknowledged")
    #expect(try await told.differences() == [], "seed \(seed)")
    return try await told.dump().filter { !$0.hasPrefix(#"{"userID""#) && !$0.hasPrefix(#"{"waitingUserID""#) }
  }
}

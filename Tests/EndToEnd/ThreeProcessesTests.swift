import Glibc
import Support
import Testing
import Time

/// Processes that share a database, asked without a pause while an operator moves the app through its stages.
///
/// That a change has come is seen as clients see it: by who answers, and of `shadow`, which changes no answer, by the calls
/// that are compared. A test waits for that; only `scripts/soak ramp` demands that it comes within five seconds, since a
/// machine on which everything else is tested as well may take longer to start a command.
@Suite struct `Three services and one stage` {
  /// How often; nil in a test.
  private static let rounds = Program.setting("SWITCHYARD_SOAK_RAMP_ROUNDS")
  private static let patience = Interval.seconds(120)
  private static let perService = 2

  @Test func `follow each change and the kill, pick the same customers, and fail no request`() async throws {
    try await ThreeServices.with { three in
      let clients = SteadyClients(three.client, asking: three.urls, three.bodies, perService: Self.perService)
      try await clients.asking {
        #expect(await clients.everybodyAsked(within: Self.patience))
        #expect(try await three.compared() == [0, 0, 0], "nothing is compared in record")
        #expect(clients.heard.allSatisfy { $0.ours.isEmpty })
        try await Self.shadow(three)
        for _ in 0..<(Self.rounds ?? 1) { try await Self.rampLiveKill(three, clients) }
      }
      #expect(clients.failures == [], "of \(clients.answers) answers")
      #expect(clients.answers > 3 * three.bodies.count)
      try await Self.expectFrozenOneAsksAgain(three)
    }
  }

  private static func shadow(_ three: ThreeServices) async throws {
    let changed = try await three.command("rollout", "set", ThreeServices.app, "shadow")
    var seen: [Int: ContinuousClock.Instant] = [:]
    let haveFollowed = try await eventually(within: patience) {
      for (service, count) in try await three.compared().enumerated() where count > 0 {
        seen[service] = seen[service] ?? ContinuousClock.now
      }
      try await Task.sleep(for: .milliseconds(50))
      return seen.count == three.services.count
    }
    #expect(haveFollowed, "\(seen.count) compare")
    check(Array(seen.values), since: changed.committed, "shadow")
  }

  private static func rampLiveKill(_ three: ThreeServices, _ clients: SteadyClients) async throws {
    // The services are asked without a pause on a busy machine: how long they take is no reason to go back here.
    _ = try await three.command("rollout", "guard", ThreeServices.app, "--most-latency", "0", "--most-errors", "0")
    // Half of the customers get our answers, the same ones from each.
    var changed = try await three.command(
      "rollout", "set", ThreeServices.app, "ramp", "--percent", "50", "--force")
    clients.forget()
    var seen = await firstOurs(clients) { _ in true }
    check(seen, since: changed.committed, "ramp")
    clients.forget()
    var inside: Set<Int> = []
    let agree = await eventually(within: patience) {
      let heard = clients.heard
      inside = heard[0].ours
      return heard.allSatisfy { $0.sources.count == three.bodies.count && $0.ours == inside }
    }
    #expect(agree, "\(clients.heard.map { $0.ours.sorted() })")
    #expect(!inside.isEmpty && inside.count < three.bodies.count, "\(inside.count)")

    // Then those who had Apple's.
    changed = try await three.command("rollout", "set", ThreeServices.app, "live", "--force")
    clients.forget()
    seen = await firstOurs(clients) { [inside] in !inside.contains($0) }
    check(seen, since: changed.committed, "live")

    changed = try await three.command("rollout", "kill", ThreeServices.app)
    let isKilled = await clients.everybodyAsked(within: patience) { $0.ours.isEmpty }
    #expect(isKilled, "\(clients.heard.map(\.ours.count))")
    check(clients.heard.map { $0.lastOurs ?? changed.committed }, since: changed.committed, "kill")
    try await expectTrueWord(three, clients)
  }

  /// Repeats the kill until the command says that all services follow.
  ///
  /// No request that begins after that gets our answer.
  private static func expectTrueWord(_ three: ThreeServices, _ clients: SteadyClients) async throws {
    _ = try await three.command("rollout", "set", ThreeServices.app, "live", "--force")
    clients.forget()
    #expect(await clients.everybodyAsked(within: patience) { !$0.ours.isEmpty })
    let isSaid = try await eventually(within: patience) {
      let killed = try await three.command("rollout", "kill", ThreeServices.app)
      return killed.following == three.services.count && killed.behind == 0
    }
    clients.forget()
    #expect(isSaid)
    #expect(await clients.everybodyAsked(within: patience))
    #expect(clients.heard.allSatisfy { $0.firstOurs.isEmpty }, "\(clients.heard.map(\.ours.count))")
  }

  /// Freezes a service while the app is taken back: it must not go on with the stage that it knew.
  private static func expectFrozenOneAsksAgain(_ three: ThreeServices) async throws {
    _ = try await three.command("rollout", "set", ThreeServices.app, "live", "--force")
    let isLive = try await eventually(within: patience) {
      try await three.sources(of: 0).allSatisfy { $0 != SteadyClients.apple }
    }
    #expect(isLive)
    let frozen = three.services[0]
    kill(frozen.id, SIGSTOP)
    defer { kill(frozen.id, SIGCONT) }
    // The command waits for five seconds, in vain.
    let killed = try await three.command("rollout", "kill", ThreeServices.app)
    #expect(killed.following == 2 && killed.behind == 1, "\(killed)")
    async let sources = three.sources(of: 0)
    try await Task.sleep(for: .seconds(1))
    kill(frozen.id, SIGCONT)
    let heard = try await sources
    #expect(heard.allSatisfy { $0 == SteadyClients.apple }, "\(heard)")
  }

  /// When each service gave its first answer of ours to one of these customers.
  private static func firstOurs(
    _ clients: SteadyClients, to isMeant: (Int) -> Bool
  ) async -> [ContinuousClock.Instant] {
    func firsts() -> [ContinuousClock.Instant] {
      clients.heard.compactMap { heard in heard.firstOurs.filter { isMeant($0.key) }.values.min() }
    }
    let haveFollowed = await eventually(within: patience) { firsts().count == clients.urls.count }
    let seen = firsts()
    #expect(haveFollowed, "\(seen.count) of \(clients.urls.count); failed: \(clients.failures.prefix(3))")
    return seen
  }

  /// How long the last took; within five seconds where that is asked.
  private static func check(_ seen: [ContinuousClock.Instant], since changed: ContinuousClock.Instant, _ stage: String)
  {
    guard rounds != nil, let last = seen.max() else { return }
    let took = max(.zero, last - changed)
    print("soak.ramp.\(stage): \(took)")
    #expect(took <= .seconds(5), "\(stage)")
  }
}

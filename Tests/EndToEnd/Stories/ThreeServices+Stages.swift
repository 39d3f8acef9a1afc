/// An operator moves the app through its stages while clients ask all services.
///
/// Clients see that a service follows by the source of its answers, and in `shadow`, which changes no answer, by the calls that are
/// compared. Only `scripts/soak ramp` demands 5 s, since a busy machine may take longer to start a command.
extension ThreeServices {
  static let patience = Interval.seconds(120)

  /// Moves the app, and expects each service to follow with the same customers.
  ///
  /// - Parameter rounds: how often, and then within five seconds; `nil`: once, without a limit.
  func followStages(_ clients: SteadyClients, rounds: Int?) async throws {
    #expect(await clients.everybodyAsked(within: Self.patience))
    #expect(try await compared() == [0, 0, 0], "nothing is compared in record")
    #expect(clients.heard.allSatisfy { $0.ours.isEmpty })
    try await shadow(rounds)
    for _ in 0..<(rounds ?? 1) { try await rampLiveKill(clients, rounds) }
  }

  private func shadow(_ rounds: Int?) async throws {
    let changed = try await command("rollout", "set", Self.app, "shadow")
    var seen: [Int: ContinuousClock.Instant] = [:]
    let haveFollowed = try await eventually(within: Self.patience) {
      for (service, count) in try await compared().enumerated() where count > 0 {
        seen[service] = seen[service] ?? ContinuousClock.now
      }
      try await Task.sleep(for: .milliseconds(50))
      return seen.count == services.count
    }
    #expect(haveFollowed, "\(seen.count) compare")
    check(Array(seen.values), since: changed.committed, "shadow", rounds)
  }

  private func rampLiveKill(_ clients: SteadyClients, _ rounds: Int?) async throws {
    // The services are asked without a pause on a busy machine. Their latency must not take the app back here.
    _ = try await command("rollout", "guard", Self.app, "--max-latency", "0", "--max-errors", "0")
    // Half of the customers get our answers, the same ones from each.
    var changed = try await command(
      "rollout", "set", Self.app, "ramp", "--percent", "50", "--force")
    clients.forget()
    var seen = await firstOurs(clients) { _ in true }
    check(seen, since: changed.committed, "ramp", rounds)
    clients.forget()
    var inside: Set<Int> = []
    let agree = await eventually(within: Self.patience) {
      let heard = clients.heard
      inside = heard[0].ours
      return heard.allSatisfy { $0.sources.count == bodies.count && $0.ours == inside }
    }
    #expect(agree, "\(clients.heard.map { $0.ours.sorted() })")
    #expect(!inside.isEmpty && inside.count < bodies.count, "\(inside.count)")

    // Then those who had Apple's.
    changed = try await command("rollout", "set", Self.app, "live", "--force")
    clients.forget()
    seen = await firstOurs(clients) { [inside] in !inside.contains($0) }
    check(seen, since: changed.committed, "live", rounds)

    changed = try await command("rollout", "kill", Self.app)
    let isKilled = await clients.everybodyAsked(within: Self.patience) { $0.ours.isEmpty }
    #expect(isKilled, "\(clients.heard.map(\.ours.count))")
    check(clients.heard.map { $0.lastOurs ?? changed.committed }, since: changed.committed, "kill", rounds)
    try await expectTrueWord(clients)
  }

  /// Repeats the kill until the command says that all services follow.
  ///
  /// No request that begins after that gets our answer.
  private func expectTrueWord(_ clients: SteadyClients) async throws {
    _ = try await command("rollout", "set", Self.app, "live", "--force")
    clients.forget()
    #expect(await clients.everybodyAsked(within: Self.patience) { !$0.ours.isEmpty })
    let isSaid = try await eventually(within: Self.patience) {
      let killed = try await command("rollout", "kill", Self.app)
      return killed.following == services.count && killed.behind == 0
    }
    clients.forget()
    #expect(isSaid)
    #expect(await clients.everybodyAsked(within: Self.patience))
    #expect(clients.heard.allSatisfy { $0.firstOurs.isEmpty }, "\(clients.heard.map(\.ours.count))")
  }

  /// Freezes a service while the app is taken back: it must not continue with the stage that it knew.
  func expectFrozenServiceAsksAgain() async throws {
    _ = try await command("rollout", "set", Self.app, "live", "--force")
    let isLive = try await eventually(within: Self.patience) {
      try await sources(of: 0).allSatisfy { $0 != SteadyClients.apple }
    }
    #expect(isLive)
    let frozen = services[0]
    kill(frozen.id, SIGSTOP)
    defer { kill(frozen.id, SIGCONT) }
    // The command waits for five seconds.
    let killed = try await command("rollout", "kill", Self.app)
    #expect(killed.following == 2 && killed.behind == 1, "\(killed)")
    async let answers = sources(of: 0)
    try await Task.sleep(for: .milliseconds(300))
    kill(frozen.id, SIGCONT)
    let heard = try await answers
    #expect(heard.allSatisfy { $0 == SteadyClients.apple }, "\(heard)")
  }

  /// The time at which each service first gave our answer to one of these customers.
  private func firstOurs(
    _ clients: SteadyClients, to isMeant: (Int) -> Bool
  ) async -> [ContinuousClock.Instant] {
    func firsts() -> [ContinuousClock.Instant] {
      clients.heard.compactMap { heard in heard.firstOurs.filter { isMeant($0.key) }.values.min() }
    }
    let haveFollowed = await eventually(within: Self.patience) { firsts().count == clients.urls.count }
    let seen = firsts()
    #expect(haveFollowed, "\(seen.count) of \(clients.urls.count); failed: \(clients.failures.prefix(3))")
    return seen
  }

  /// Expects, in rounds, that the last service followed within five seconds.
  private func check(
    _ seen: [ContinuousClock.Instant], since changed: ContinuousClock.Instant, _ stage: String, _ rounds: Int?
  ) {
    guard rounds != nil, let last = seen.max() else { return }
    let took = max(.zero, last - changed)
    print("soak.ramp.\(stage): \(took)")
    #expect(took <= .seconds(5), "\(stage)")
  }
}

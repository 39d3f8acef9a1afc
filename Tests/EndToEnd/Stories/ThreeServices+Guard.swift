/// Answers in `ramp 50` that would cost one customer of twenty access, and the guard that takes the app back.
///
/// Clients see that an app is back: every service responds to every customer with Apple's answer. Only `scripts/soak guard`
/// demands that within five seconds of the commit by which the guards can know.
extension ThreeServices {
  /// 50 of 1,000 customers.
  ///
  /// The customers of the clients, 30 at most, are compared as well.
  private static let (sound, affected) = (0..<950, 950..<1_000)
  private static let tookBack = "the guard took an app back to shadow"

  /// Has the guard take the app back, and expects that the audit, the log and the commands show it.
  ///
  /// - Parameter rounds: how often, and then within five seconds; `nil`: once, without a limit.
  func followGuard(_ clients: SteadyClients, rounds: Int?) async throws {
    // The services are asked without a pause on a busy machine. Their latency must not take the app back here.
    _ = try await command("rollout", "guard", Self.app, "--max-latency", "0", "--max-errors", "0")
    for round in 1...(rounds ?? 1) {
      try await ramp(clients)
      #expect(try await story().count == round - 1, "the guard acted too early")
      try await breach(clients, rounds)
      try await expectStory(after: round)
    }
  }

  /// Sets `ramp 50`, in which every guard holds until enough was compared, and then finds the answers sound.
  private func ramp(_ clients: SteadyClients) async throws {
    _ = try await command("rollout", "set", Self.app, "ramp", "--percent", "50", "--force")
    clients.forget()
    let answers = await eventually(within: Self.patience) { clients.heard.allSatisfy { !$0.firstOurs.isEmpty } }
    try #require(answers, "\(clients.heard.map(\.ours.count)); failed: \(clients.failures.prefix(3))")
    try await expectGuards(find: 0)
    _ = try await InjectedComparisons(customers: Self.sound, areAffected: false).add(to: database)
    try await expectGuards(find: 1)
  }

  /// Waits until the guard of every service has found this.
  private func expectGuards(find state: Int) async throws {
    var found: [Int?] = []
    let isFound = try await eventually(within: Self.patience) {
      found = try await guardStates()
      try await Task.sleep(for: .milliseconds(50))
      return found.allSatisfy { $0 == state }
    }
    try #require(isFound, "\(found)")
  }

  /// Injects the impact, and waits until every service answers every customer as in `shadow`.
  private func breach(_ clients: SteadyClients, _ rounds: Int?) async throws {
    let committed = try await InjectedComparisons(customers: Self.affected, areAffected: true).add(to: database)
    clients.forget()
    let areBack = await clients.everybodyAsked(within: Self.patience) { $0.ours.isEmpty }
    try #require(areBack, "\(clients.heard.map(\.ours.count))")
    let last = clients.heard.compactMap(\.lastOurs).max() ?? committed
    clients.forget()
    #expect(await clients.everybodyAsked(within: Self.patience))
    #expect(clients.heard.allSatisfy { $0.firstOurs.isEmpty }, "nothing goes forward again by itself")
    guard rounds != nil else { return }
    let took = max(.zero, last - committed)
    print("soak.guard: \(took)")
    #expect(took <= .seconds(5))
  }

  /// The guard's entries in the audit, the newest last.
  private func story() async throws -> [String] {
    let rows = try await database.rows(
      "SELECT reason FROM audit WHERE action = 'rollout.guard' AND actor = 'guard' ORDER BY id")
    return try rows.map { try $0.text("reason") }
  }

  /// Each round is one entry of the audit with its figures, and one line of one process's log; the commands show it.
  private func expectStory(after round: Int) async throws {
    let story = try await story()
    #expect(story.count == round, "\(story)")
    let newest = try #require(story.last)
    #expect(newest.hasPrefix("Sandbox: ramp 50 % to shadow: "), "\(newest)")
    #expect(newest.hasSuffix(" customers would have had other access"), "\(newest)")
    let figures = newest.split(separator: " ").compactMap { Int($0) }
    try #require(figures.count == 3, "\(newest)")
    #expect(figures[1] >= Self.affected.count && figures[2] >= Self.sound.count + Self.affected.count, "\(newest)")
    // 5 % of those that were injected; the clients' own customers move it a little.
    #expect((4...6).contains(figures[1] * 100 / figures[2]), "\(newest)")
    let isLogged = await eventually(within: Self.patience) { logged == round }
    #expect(isLogged, "\(logged)")

    let history = try await program.run("rollout", "history", Self.app, "--limit", "2", "--json")
    let entries = try history.objects
    #expect(entries.map { $0["action"]?.string } == ["rollout.guard", "rollout.set"], "\(history)")
    #expect(entries.first?["actor"] == "guard" && entries.first?["reason"]?.string == newest, "\(history)")
    let shown = try await program.run("rollout", "status", Self.app)
    #expect(shown.notes.contains("Customers with an impact: switchyard compare list"), "\(shown)")
    let status = try await program.run("rollout", "status", Self.app, "--json")
    let sandbox = try #require(try status.objects.first { $0["environment"] == "Sandbox" }, "\(status)")
    #expect(sandbox["stage"] == "shadow" && sandbox["percent"] == .null && sandbox["guard"] == .null, "\(status)")
    #expect(sandbox["affected"]?.integer ?? 0 >= Int64(Self.affected.count), "\(status)")
  }

  private var logged: Int {
    services.reduce(0) { sum, service in
      sum + service.notes.split(separator: "\n").filter { $0.contains(Self.tookBack) }.count
    }
  }
}

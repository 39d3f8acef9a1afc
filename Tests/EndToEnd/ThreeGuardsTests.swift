import Database
import JSON
import Support
import Testing
import Time

/// Processes that share a database, whose answers in `ramp 50` would cost one customer of twenty access.
///
/// That an app is back is seen as clients see it: every process gives everybody Apple's answer. A test waits for that; only
/// `scripts/soak guard` demands that it comes within five seconds of the commit by which the guards can know.
@Suite struct `Three services and their guard` {
  /// How often; nil in a test.
  private static let rounds = Program.setting("SWITCHYARD_SOAK_GUARD_ROUNDS")
  private static let patience = Interval.seconds(120)
  /// Of 1,000 customers 50; the clients' own, 30 at most, are compared as well.
  private static let (sound, affected) = (0..<950, 950..<1_000)
  private static let tookBack = "the guard took an app back to shadow"

  @Test func `take an app back when 5 % would lose access, fail no request, and tell the story`() async throws {
    try await ThreeServices.with { three in
      let clients = SteadyClients(three.client, asking: three.urls, three.bodies, perService: 2)
      try await clients.asking {
        // The services are asked without a pause on a busy machine: how long they take is no reason to go back here.
        _ = try await three.command(
          "rollout", "guard", ThreeServices.app, "--most-latency", "0", "--most-errors", "0")
        for round in 1...(Self.rounds ?? 1) {
          try await Self.ramp(three, clients)
          #expect(try await Self.story(three).count == round - 1, "nothing has happened yet")
          try await Self.breach(three, clients)
          try await Self.expectStory(of: three, after: round)
        }
      }
      #expect(clients.failures == [], "of \(clients.answers) answers")
      #expect(clients.answers > 3 * three.bodies.count)
    }
  }

  /// Sets `ramp 50`, in which every guard holds until enough was compared, and then finds the answers sound.
  private static func ramp(_ three: ThreeServices, _ clients: SteadyClients) async throws {
    _ = try await three.command("rollout", "set", ThreeServices.app, "ramp", "--percent", "50", "--force")
    clients.forget()
    let answers = await eventually(within: patience) { clients.heard.allSatisfy { !$0.firstOurs.isEmpty } }
    try #require(answers, "\(clients.heard.map(\.ours.count)); failed: \(clients.failures.prefix(3))")
    try await expectGuards(of: three, find: 0)
    _ = try await InjectedComparisons(customers: sound, areAffected: false).add(to: three.database)
    try await expectGuards(of: three, find: 1)
  }

  /// Waits until the guard of every service has found this.
  private static func expectGuards(of three: ThreeServices, find state: Int) async throws {
    var found: [Int?] = []
    let isFound = try await eventually(within: patience) {
      found = try await three.guardStates()
      try await Task.sleep(for: .milliseconds(50))
      return found.allSatisfy { $0 == state }
    }
    try #require(isFound, "\(found)")
  }

  /// Injects the impact, and waits until every service answers everybody as in `shadow`.
  private static func breach(_ three: ThreeServices, _ clients: SteadyClients) async throws {
    let committed = try await InjectedComparisons(customers: affected, areAffected: true).add(to: three.database)
    clients.forget()
    let areBack = await clients.everybodyAsked(within: patience) { $0.ours.isEmpty }
    try #require(areBack, "\(clients.heard.map(\.ours.count))")
    let last = clients.heard.compactMap(\.lastOurs).max() ?? committed
    clients.forget()
    #expect(await clients.everybodyAsked(within: patience))
    #expect(clients.heard.allSatisfy { $0.firstOurs.isEmpty }, "nothing goes forward again by itself")
    guard rounds != nil else { return }
    let took = max(.zero, last - committed)
    print("soak.guard: \(took)")
    #expect(took <= .seconds(5))
  }

  /// What the audit says of what the guard did, the newest last.
  private static func story(_ three: ThreeServices) async throws -> [String] {
    let rows = try await three.database.rows(
      "SELECT reason FROM audit WHERE action = 'rollout.guard' AND actor = 'guard' ORDER BY id")
    return try rows.map { try $0.text("reason") }
  }

  /// Each round is one entry of the audit with its figures, and one line of one process's log; the commands show it.
  private static func expectStory(of three: ThreeServices, after round: Int) async throws {
    let story = try await Self.story(three)
    #expect(story.count == round, "\(story)")
    let newest = try #require(story.last)
    #expect(newest.hasPrefix("Sandbox: ramp 50 % to shadow: "), "\(newest)")
    #expect(newest.hasSuffix(" customers would have had other access"), "\(newest)")
    let figures = newest.split(separator: " ").compactMap { Int($0) }
    try #require(figures.count == 3, "\(newest)")
    #expect(figures[1] >= affected.count && figures[2] >= sound.count + affected.count, "\(newest)")
    // 5 % of those that were injected; the clients' own customers move it a little.
    #expect((4...6).contains(figures[1] * 100 / figures[2]), "\(newest)")
    let isLogged = await eventually(within: patience) { logged(by: three) == round }
    #expect(isLogged, "\(logged(by: three))")

    let history = try await three.program.run("rollout", "history", ThreeServices.app, "--limit", "2", "--json")
    let entries = try history.objects
    #expect(entries.map { $0["action"]?.string } == ["rollout.guard", "rollout.set"], "\(history)")
    #expect(entries.first?["actor"] == "guard" && entries.first?["reason"]?.string == newest, "\(history)")
    let shown = try await three.program.run("rollout", "status", ThreeServices.app)
    #expect(shown.notes.contains("Customers with an impact: switchyard compare list"), "\(shown)")
    let status = try await three.program.run("rollout", "status", ThreeServices.app, "--json")
    let sandbox = try #require(try status.objects.first { $0["environment"] == "Sandbox" }, "\(status)")
    #expect(sandbox["stage"] == "shadow" && sandbox["percent"] == .null && sandbox["guard"] == .null, "\(status)")
    #expect(sandbox["affected"]?.integer ?? 0 >= Int64(affected.count), "\(status)")
  }

  private static func logged(by three: ThreeServices) -> Int {
    three.services.reduce(0) { sum, service in
      sum + service.notes.split(separator: "\n").filter { $0.contains(tookBack) }.count
    }
  }
}

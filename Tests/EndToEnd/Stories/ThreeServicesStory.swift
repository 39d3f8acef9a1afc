/// Services that share a database and are asked without a pause.
@Suite struct ThreeServicesStory {
  private static let perService = 2

  @Test func `follow each change of the stage, the kill and the guard, and fail no request`() async throws {
    try await Self.with { three, clients in
      try await three.followStages(clients, rounds: nil)
      try await three.followGuard(clients, rounds: nil)
    }
  }

  /// Runs `body` while clients ask, and expects that no request fails and that a frozen service asks again.
  static func with(_ body: (ThreeServices, SteadyClients) async throws -> Void) async throws {
    try await ThreeServices.with { three in
      let clients = SteadyClients(three.client, asking: three.urls, three.bodies, perService: Self.perService)
      try await clients.asking { try await body(three, clients) }
      #expect(clients.failures == [], "of \(clients.answers) answers")
      #expect(clients.answers > 3 * three.bodies.count)
      try await three.expectFrozenServiceAsksAgain()
    }
  }
}

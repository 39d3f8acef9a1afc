/// How long both sides take, as a service counts it.
@Suite struct `The times of a service's answers` {
  private static func isThere(_ condition: SQL, _ service: AnsweringService) async throws -> Bool {
    try await eventually(within: .seconds(60)) {
      try await service.rowCount("answer_times WHERE environment = 2 AND " + condition) > 0
    }
  }

  @Test func `are Apple's and ours, and a call without an answer has none`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(
      world, stage: "shadow", isAsking: false, { $0.shadow.timesWrittenEvery = .milliseconds(50) }
    ) { service in
      let request = AnsweringService.request(try service.receipt(of: buyer))
      _ = try await service.ask(request)
      #expect(try await Self.isThere("side = 1 AND at_most > 0", service), "Apple's")
      #expect(try await Self.isThere("side = 3 AND at_most > 0", service), "ours, that was compared with it")
      try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
      _ = try await service.ask(request)
      #expect(try await Self.isThere("side = 1 AND at_most = 0", service), "the app is known by its secret")
    }
  }
}

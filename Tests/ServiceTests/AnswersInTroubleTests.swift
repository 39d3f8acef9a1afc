/// Answers while something fails, and answers that only look possible.
@Suite struct `An answer in trouble` {
  @Sendable private static func impatient(_ settings: inout Application.Settings) {
    settings.answersKept = .milliseconds(0)
    // Callers wait no longer for an App Store Server API that is down.
    settings.answering.lookUpWithin = .seconds(5)
  }

  @Test func `is never of another app whose secret the request has`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      // Genuine, of an app that nobody registered, with the secret of one that somebody did.
      let request = AnsweringService.request(try service.receipt(of: buyer, app: "com.example.other"))
      let answer = try await service.ask(request)
      #expect(answer.code == 21_003 && answer.source == nil, "\(answer)")
      #expect(try await service.rowCount("histories") == 0)
      #expect(try await service.rowCount("work") == 0)
    }
  }

  @Test func `calls nothing ended of which the last word was that it does not renew`() async throws {
    var world = AnsweredWorld.world(days: 60, customers: 60)
    func cancelled() -> CustomerID? {
      AnsweredWorld.buyers(world).first { id in
        world.state(of: id).subscriptions.contains { $0.status == 1 && !$0.renewal.willRenew }
      }
    }
    while cancelled() == nil, world.now < AnsweringService.start + .days(300) {
      world.advance(by: .days(2))
      _ = world.drainNotifications()
    }
    let customer = try #require(cancelled())
    try await AnsweringService.with(world, stage: "complete", Self.impatient) { service in
      let request = AnsweringService.request(try service.receipt(of: customer))
      // Beside other tests the first look-up may not be done in time; the answer is the receipt's own until then.
      #expect(
        try await eventually {
          let answer = try await service.ask(request)
          return answer.code == 0 && ["lookup", "ledger"].contains(answer.source)
        })
      try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      // The customer may have turned renewing on again, and the news of it be lost.
      try await service.advance(.days(400))
      let answer = try await service.ask(request)
      #expect(answer.code == 21_005 && answer.source == nil, "\(answer)")
    }
  }

  @Test(arguments: ["status", "serverError", "malformed"])
  func `is looked up in live where Apple has none`(fault: String) async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "live") { service in
      try await service.control("faults", ["fault": .string(fault), "on": "verifyReceipt", "times": .null])
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
      #expect(answer.status == 200 && answer.code == 0 && answer.source == "lookup", "\(answer)")
    }
  }

  @Test(arguments: ["live", "complete"])
  func `that cannot be given keeps what was posted`(stage: String) async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: stage, Self.impatient) { service in
      try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
      try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      _ = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
      // The purchase may have no other witness yet: the next call need not bring it again.
      let isKept = try await eventually { try await service.rowCount("inbox") == 1 }
      #expect(isKept)
      #expect(try await service.rowCount("work") > 0)
    }
  }

  @Test func `is given from what is known while the app's other calls wait for Apple`() async throws {
    let world = AnsweredWorld.world(customers: 40)
    let buyers = AnsweredWorld.buyers(world)
    let (known, others) = (try #require(buyers.first), buyers.dropFirst())
    try await AnsweringService.with(world, stage: "live") { service in
      let request = AnsweringService.request(try service.receipt(of: known))
      try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": 1])
      #expect(try await service.ask(request).source == "lookup")
      try await service.control(
        "faults", ["fault": "stalled", "on": "verifyReceipt", "value": 600_000, "times": .null])
      // As many as may wait of one app, and more: of none of these customers enough is known.
      let bodies = try (0..<40).map { number in
        AnsweringService.request(
          try service.receipt(of: others[others.startIndex + number % others.count]), excludesOld: number % 2 == 0)
      }
      var many = HTTPClientConfiguration()
      many.connectionsPerHost = bodies.count
      let crowd = HTTPClient(many)
      await withTaskGroup(of: Void.self) { group in
        for body in bodies {
          let url = service.base + "/sandbox/verifyReceipt"
          group.addTask {
            _ = try? await crowd.send(
              ClientRequest(method: "POST", url: url, body: body.encoded(), deadline: .seconds(150)))
          }
        }
        let areWaiting = await eventually { ((try? await service.matchedCalls())?.last ?? 0) >= 32 }
        #expect(areWaiting)
        let answer = try? await service.ask(request)
        #expect(answer?.code == 0 && answer?.source == "ledger", "\(String(describing: answer))")
        group.cancelAll()
      }
      await crowd.shutdown()
    }
  }

  @Test func `is to be asked for again where Apple knows more and does not answer`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "live") { service in
      try await service.control("faults", ["fault": "serverError", "on": "verifyReceipt", "times": .null])
      // An app that was forgotten: Apple is asked about it for the operator's own back ends.
      let request = AnsweringService.request(try service.receipt(of: buyer, app: "com.example.forgotten"))
      #expect(try await service.ask(request, token: service.token).code == 21_005)
    }
  }

  @Test func `accepts a secret that was registered a moment ago`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(try service.receipt(of: buyer))
      try await service.execute("UPDATE credentials SET retired_at = 1 WHERE name = 'shared'")
      let isRefused = try await eventually(within: .seconds(60)) { try await service.ask(request).code == 21_004 }
      #expect(isRefused)
      try await service.execute("UPDATE credentials SET retired_at = NULL WHERE name = 'shared'")
      #expect(try await service.ask(request).code == 0)
    }
  }

  @Test func `is no refusal while a secret cannot be opened here`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(
        try service.receipt(of: buyer), password: String(repeating: "0", count: 32))
      #expect(try await service.ask(request).code == 21_004)
      // As another process with another master key sealed it.
      try await service.execute("UPDATE credentials SET sealed = REVERSE(sealed) WHERE name = 'shared'")
      let isLeftOpen = try await eventually(within: .seconds(60)) { try await service.ask(request).code == 21_009 }
      #expect(isLeftOpen)
    }
  }
}

/// What is answered of a customer of whom not everything may be known; spec answers.md, section 4.
@Suite struct `An answer that may lack something` {
  /// A customer with one subscription that runs and renews, and nothing else.
  private static func subscriber(_ world: AppStoreWorld) -> CustomerID? {
    AnsweredWorld.buyers(world).first { id in
      let state = world.state(of: id)
      return state.subscriptions.count == 1 && state.subscriptions[0].status == 1
        && state.subscriptions[0].renewal.willRenew
    }
  }

  private static let fault: JSONObject = ["fault": "serverError", "on": "verifyReceipt", "times": .null]

  @Sendable private static func settings(_ settings: inout Application.Settings) {
    settings.answersKept = .milliseconds(0)
    // Callers wait no longer for an App Store Server API that is down.
    settings.answering.lookUpWithin = .seconds(1)
  }

  /// Asks until Apple has been asked about the customer: beside other tests the first look-up may not be done in time.
  private static func ask(of customer: CustomerID, _ service: AnsweringService) async throws {
    let request = AnsweringService.request(try service.receipt(of: customer))
    #expect(try await eventually { ["lookup", "ledger"].contains(try await service.ask(request).source) })
  }

  /// Has the simulated customer buy something now; of them the rest of the receipt was known before.
  private func buy(_ product: String, _ customer: CustomerID, _ service: AnsweringService) async throws {
    try await service.control(
      "act", ["act": "buy", "customer": .string("\(customer)"), "productId": .string(product)])
  }

  @Test(arguments: ["live", "complete"])
  func `has the purchase of seconds ago whose notification is still on its way`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    let customer = try #require(Self.subscriber(world))
    try await AnsweringService.with(world, stage: stage) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      #expect(try await service.ask(AnsweringService.request(try service.receipt(of: customer))).source == "lookup")
      try await service.advance(.minutes(5))
      try await buy("archive", customer, service)
      let request = AnsweringService.request(try service.receipt(of: customer))
      let answer = try await service.ask(request)
      #expect(answer.code == 0 && answer.source == "lookup", "\(answer)")
      if stage == "live" { try await service.withoutFaults() }
      #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
    }
  }

  @Test(arguments: ["live", "complete"])
  func `runs as the receipt says while Apple can tell nothing of its newest purchase`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    // Somebody who bought something else before, and subscribes now.
    let customer = try #require(
      AnsweredWorld.buyers(world).first { world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: stage, Self.settings) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      try await Self.ask(of: customer, service)
      try await service.advance(.minutes(5))
      try await buy("plus.monthly", customer, service)
      try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      let request = AnsweringService.request(try service.receipt(of: customer))
      let answer = try await service.ask(request)
      let now = service.running.now
      let truth = Set(service.running.world.state(of: customer).subscriptions.map(\.originalTransactionID))
      #expect(
        answer.code == 21_005 || NaiveClient.running(in: answer.body, at: now) == truth,
        "\(answer.source ?? "-") \(answer.body)")
    }
  }

  @Test(arguments: ["live", "complete"])
  func `of somebody known by a notification alone waits for their history`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    let customer = try #require(Self.subscriber(world))
    try await AnsweringService.with(world, stage: stage) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      let last = try #require(world.state(of: customer).purchases.last)
      let jws = try PayloadSigner(service.running.store.identity.chains.pki).sign(
        last.transaction.payload(signedAt: world.now))
      #expect(
        try await service.post(jws, to: service.base + "/v1/evidence", token: service.token).status == 200)
      let request = AnsweringService.request(try service.receipt(of: customer))
      let answer = try await service.ask(request)
      // The service may have asked for it by itself meanwhile.
      #expect(["lookup", "ledger"].contains(answer.source), "\(answer)")
      #expect(try await service.rowCount("histories") > 0)
      if stage == "live" { try await service.withoutFaults() }
      #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
    }
  }

  @Test(arguments: ["live", "complete"])
  func `is never of an end that Apple cannot confirm`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    let customer = try #require(Self.subscriber(world))
    try await AnsweringService.with(world, stage: stage, Self.settings) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      let request = AnsweringService.request(try service.receipt(of: customer))
      // Their history was never asked for: the receipt's period runs.
      let running = try await service.ask(request)
      let truth = Set(world.state(of: customer).subscriptions.map(\.originalTransactionID))
      #expect(
        running.code == 21_005 || NaiveClient.running(in: running.body, at: world.now) == truth,
        "\(running.source ?? "-") \(running.body)")
      try await service.advance(.days(400))
      let ended = try await service.ask(request)
      #expect(ended.code == 21_005 && ended.source == nil, "\(ended)")
    }
  }

  /// The refunded period would have run on; the one that is paid for now is the receipt's alone.
  @Test(arguments: ["live", "complete"])
  func `of iOS 6 runs after a refund, when the customer comes back and nobody can tell`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    let customer = try #require(Self.subscriber(world))
    try await AnsweringService.with(world, stage: stage, Self.settings) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      let refunded = try #require(world.state(of: customer).legacyPurchases.last).transaction
      try await service.control(
        "act",
        ["act": "refund", "customer": .string("\(customer)"), "transactionId": .string(refunded.transactionID)])
      try await service.advance(.minutes(5))
      try await Self.ask(of: customer, service)
      try await service.control("faults", ["fault": "serverError", "on": "api", "times": .null])
      try await service.advance(.minutes(5))
      try await buy(refunded.product.id, customer, service)
      let paid = try #require(service.running.world.state(of: customer).legacyPurchases.last)
      #expect(paid.transaction.transactionID != refunded.transactionID)
      let receipt = try service.transactionReceipt(of: paid, customer)
      let answer = try await service.ask(AnsweringService.request(receipt))
      #expect(answer.code == 0 && answer.source == "receipt", "\(answer)")
    }
  }

  @Test(arguments: ["live", "complete"])
  func `of an app that nobody registered is Apple's, in complete for the operator's own callers alone`(
    stage: String
  ) async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: stage, Self.settings) { service in
      let request = AnsweringService.request(try service.receipt(of: buyer, app: "com.example.forgotten"))
      let apple = (try await service.apple(request))["status"]?.integer
      let stranger = try await service.ask(request)
      if stage == "live" {
        #expect(stranger.source == "apple" && stranger.code == apple, "\(stranger)")
      } else {
        #expect(stranger.body == ["status": 21_003] && stranger.source == nil, "\(stranger)")
      }
      let own = try await service.ask(request, token: service.token)
      #expect(own.source == "apple" && own.code == apple, "\(own)")
      #expect(try await service.rowCount("histories") == 0)
    }
  }

  @Test(arguments: ["live", "complete"])
  func `has the refund that the posted receipt tells of and no notification did`(stage: String) async throws {
    let world = AnsweredWorld.world(days: 40, customers: 20)
    let customer = try #require(Self.subscriber(world))
    try await AnsweringService.with(world, stage: stage) { service in
      if stage == "live" { try await service.control("faults", Self.fault) }
      #expect(try await service.ask(AnsweringService.request(try service.receipt(of: customer))).source == "lookup")
      let refunded = try #require(world.state(of: customer).legacyPurchases.last).transaction
      try await service.advance(.minutes(5))
      try await service.control(
        "act",
        ["act": "refund", "customer": .string("\(customer)"), "transactionId": .string(refunded.transactionID)])
      try await service.advance(.minutes(2))
      let request = AnsweringService.request(try service.receipt(of: customer))
      let answer = try await service.ask(request)
      #expect(answer.code == 0 && answer.source == "lookup", "\(answer)")
      if stage == "live" { try await service.withoutFaults() }
      #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
      // Once Apple was asked, its word stands.
      #expect(try await service.ask(request).source == "ledger")
    }
  }
}

/// What is answered when something is wrong: with the receipt, with the account, with Apple or with ourselves.
@Suite struct `An answer that cannot be had` {
  private static func isRunning(_ state: CustomerState) -> Bool {
    !state.subscriptions.isEmpty && state.subscriptions.allSatisfy { $0.status == 1 && $0.renewal.willRenew }
      && Set(state.legacyPurchases.map(\.transaction.originalTransactionID)).isSuperset(
        of: state.subscriptions.map(\.originalTransactionID))
  }

  private static func expect(
    _ answer: AnsweringService.Answer, _ code: Int64, isAlone: Bool, _ name: String,
    at place: SourceLocation = #_sourceLocation
  ) {
    #expect(answer.status == 200 && answer.type == "application/json", "\(name): \(answer)", sourceLocation: place)
    #expect(answer.source == nil, "\(name): \(answer)", sourceLocation: place)
    let expected: JSONObject =
      isAlone ? ["status": .integer(code)] : ["environment": "Sandbox", "status": .integer(code)]
    #expect(answer.body == expected, "\(name)", sourceLocation: place)
  }

  @Test func `has the status of Apple's for a receipt of the other environment, and for one of no known`() async throws
  {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    for stage in ["complete", "live"] {
      try await AnsweringService.with(world, stage: stage) { service in
        var receipt = world.state(of: buyer).receipt
        receipt.receiptType = "Production"
        let other = AnsweringService.request(try service.signed(receipt))
        Self.expect(try await service.ask(other), 21_008, isAlone: true, stage)
        receipt.receiptType = "ProductionPlayground"
        let unknown = AnsweringService.request(try service.signed(receipt))
        let answer = try await service.ask(unknown)
        #expect(answer.type == "application/json")
        if stage == "live" {
          #expect(answer.source == "apple")
          let apple = try await service.apple(unknown)
          #expect(answer.code == apple["status"]?.integer)
        } else {
          Self.expect(answer, 21_003, isAlone: true, stage)
        }
      }
    }
  }

  @Test func `is 413 beyond Apple's limit alone, and 21000 for anything but POST`() async throws {
    try await AnsweringService.with(AnsweredWorld.world(), stage: "complete") { service in
      let url = service.base + "/sandbox/verifyReceipt"
      func body(of count: Int) -> [UInt8] {
        let start = Array(#"{"receipt-data":""#.utf8)
        return start + [UInt8](repeating: 0x41, count: count - start.count - 2) + Array(#""}"#.utf8)
      }
      let longest = try await service.post(body(of: 3_145_728), to: url)
      Self.expect(longest, 21_002, isAlone: true, "longest")
      #expect(try await service.post(body(of: 3_145_729), to: url).status == 413)
      for method in ["GET", "PUT", "DELETE"] {
        Self.expect(
          try await service.send(ClientRequest(method: method, url: url)), 21_000, isAlone: true, method)
      }
    }
  }

  @Test func `is 21010 for an account of which Apple says that it is gone`() async throws {
    let world = AnsweredWorld.world()
    // Of several ids Apple has to have said so of each.
    let buyer = try #require(
      AnsweredWorld.buyers(world).first { id in
        let state = world.state(of: id)
        return Self.isRunning(state) && Set(state.purchases.map(\.transaction.originalTransactionID)).count == 1
      })
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(try service.receipt(of: buyer))
      #expect(try await service.ask(request).source == "lookup")
      // As a look-up leaves it behind whose call failed by AccountNotFoundError.
      let later = world.now + .hours(1)
      try await service.execute(
        """
        UPDATE work SET state = 3, settled_at = \(later), reason = 'getTransactionHistory: refused (404, 4040001): gone'
        """)
      Self.expect(try await service.ask(request), 21_010, isAlone: false, "gone")
    }
  }

  @Test(arguments: ["complete", "live"])
  func `is 21009 while the ledger cannot be read, and Apple's before complete`(stage: String) async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: stage, isAsking: false) { service in
      try await service.execute("RENAME TABLE purchases TO purchases_away")
      let request = AnsweringService.request(try service.receipt(of: buyer))
      let answer = try await service.ask(request)
      if stage == "complete" {
        Self.expect(answer, 21_009, isAlone: false, stage)
      } else {
        #expect(answer.source == "apple" && answer.code == 0 && answer.type == "application/json")
        #expect(AnsweredWorld.differences(answer.body, try await service.apple(request)) == [])
      }
    }
  }

  @Test(arguments: ["complete", "live"])
  func `is 21004 where no shared secret is registered to compare with, and Apple's before complete`(
    stage: String
  ) async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first { !world.state(of: $0).subscriptions.isEmpty })
    try await AnsweringService.with(world, stage: stage, hasSecret: false) { service in
      let request = AnsweringService.request(try service.receipt(of: buyer))
      let answer = try await service.ask(request)
      if stage == "complete" {
        Self.expect(answer, 21_004, isAlone: false, stage)
      } else {
        #expect(answer.source == "apple" && answer.code == 0)
        let wrong = AnsweringService.request(
          try service.receipt(of: buyer), password: String(repeating: "0", count: 32))
        let refused = try await service.ask(wrong)
        #expect(refused.source == "apple" && refused.code == 21_004)
      }
    }
  }

  @Test func `is the ledger's and the receipt's while Apple fails in live, and never one of an end unheard`()
    async throws
  {
    let world = AnsweredWorld.world(days: 120)
    let buyer = try #require(AnsweredWorld.buyers(world).first { Self.isRunning(world.state(of: $0)) })
    try await AnsweringService.with(
      world, stage: "live", isAsking: false,
      { settings in
        settings.answersKept = .milliseconds(0)
        // Nobody listens there.
        settings.verifyReceipt.sandbox = "http://127.0.0.1:1/verifyReceipt"
      }
    ) { service in
      let request = AnsweringService.request(try service.receipt(of: buyer))
      let running = try await service.ask(request)
      #expect(running.source == "receipt" && running.code == 0 && running.type == "application/json", "\(running)")
      try await service.advance(.days(400))
      Self.expect(try await service.ask(request), 21_005, isAlone: false, "ended")
      // Without a purchase nothing tells whose it is.
      var empty = world.state(of: buyer).receipt
      empty.purchases = []
      Self.expect(
        try await service.ask(AnsweringService.request(try service.signed(empty))), 21_005, isAlone: false, "empty")
    }
  }
}

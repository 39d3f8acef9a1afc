/// What Apple is asked for answers, and what the oldest receipts get in grace.
@Suite struct `What an answer takes` {
  /// Of whom one call tells all.
  private static func smallBuyer(_ world: AppStoreWorld) -> CustomerID? {
    AnsweredWorld.buyers(world).first { id in
      let state = world.state(of: id)
      return state.subscriptions.count == 1 && state.purchases.count <= 20
        && Set(state.purchases.map(\.transaction.originalTransactionID)).count == 1
    }
  }

  @Test func `is one look-up, however many identical requests wait for it`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(Self.smallBuyer(world))
    try await AnsweringService.with(world, stage: "complete") { service in
      // Slow enough that all of them wait at once.
      for operation in ["getTransactionHistory", "getAllSubscriptionStatuses"] {
        try await service.control(
          "faults",
          ["fault": "slow", "value": 700, "on": "api", "operation": .string(operation), "times": .null])
      }
      let request = AnsweringService.request(try service.receipt(of: buyer))
      // The client knows the server then, and opens a connection for each of what follows.
      _ = try await service.metrics()
      let answers = try await withThrowingTaskGroup(of: AnsweringService.Answer.self) { group in
        for _ in 0..<12 { group.addTask { try await service.ask(request) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      // Who comes after the look-up, on a busy machine, is answered from the ledger.
      #expect(answers.allSatisfy { $0.code == 0 && ["lookup", "ledger"].contains($0.source) })
      let calls = try await service.matchedCalls()
      #expect(calls == [1, 1], "\(calls)")
      // All is known now: nobody is asked.
      #expect(try await service.ask(request).source == "ledger")
      let later = try await service.matchedCalls()
      #expect(later == calls, "\(later)")
    }
  }

  @Test func `is one look-up for different requests about one customer, and each waits for it`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(Self.smallBuyer(world))
    try await AnsweringService.with(world, stage: "complete") { service in
      try await service.control(
        "faults", ["fault": "slow", "value": 700, "on": "api", "operation": "getTransactionHistory", "times": .null])
      let receipt = try service.receipt(of: buyer)
      _ = try await service.metrics()
      let answers = try await withThrowingTaskGroup(of: AnsweringService.Answer.self) { group in
        for excludesOld in [false, true, false, true] {
          group.addTask { try await service.ask(AnsweringService.request(receipt, excludesOld: excludesOld)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers.allSatisfy { $0.code == 0 && ["lookup", "ledger"].contains($0.source) }, "\(answers)")
      #expect(try await service.matchedCalls() == [1])
    }
  }

  @Test func `is one history for a receipt of many purchases`() async throws {
    let world = AnsweredWorld.world()
    func originals(_ id: CustomerID) -> Int {
      Set(world.state(of: id).purchases.map(\.transaction.originalTransactionID)).count
    }
    let buyer = try #require(AnsweredWorld.buyers(world).max { originals($0) < originals($1) })
    try #require(originals(buyer) >= 3)
    try await AnsweringService.with(world, stage: "complete") { service in
      try await service.control(
        "faults", ["fault": "slow", "value": 1, "on": "api", "operation": "getTransactionHistory", "times": .null])
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: buyer)))
      #expect(answer.code == 0 && answer.source == "lookup", "\(answer.code ?? -1) \(service.reasons)")
      let pages = (world.state(of: buyer).purchases.count + 19) / 20
      let calls = try await service.matchedCalls()
      #expect(calls == [Int64(pages)], "\(calls)")
    }
  }

  @Test func `is nothing new for a receipt that is only spelled otherwise`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(world, stage: "complete", { $0.answersKept = .seconds(600) }) { service in
      let receipt = try service.receipt(of: buyer)
      for spelled in [
        receipt.replacing("+", with: "-").replacing("/", with: "_"), receipt.replacing("+", with: " "),
        "  " + receipt + "\n", receipt.replacing("=", with: ""),
      ] {
        // News of the first one may come in between; the date of an answer of its own is another.
        let isSame = try await eventually(within: .seconds(60)) {
          let plain = try await service.ask(AnsweringService.request(receipt))
          let same = try await service.ask(AnsweringService.request(spelled))
          return plain.code == 0 && same.body == plain.body
        }
        #expect(isSame)
      }
    }
  }

  @Test func `of a customer of many purchases is whole, one at a time for each class of callers`() async throws {
    let world = AnsweredWorld.world()
    let buyer = try #require(Self.smallBuyer(world))
    try await AnsweringService.with(world, stage: "complete") { service in
      let receipt = try service.receipt(of: buyer)
      let before = try await service.ask(AnsweringService.request(receipt))
      let rows = before.body["latest_receipt_info"]?.array?.count ?? 0
      #expect(before.code == 0 && rows > 0)
      // As many periods again, some hundred times.
      try await service.execute(
        """
        INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts, message,
          precedence)
        SELECT app, environment, original_transaction_id, CONCAT(line, LPAD(seq, 4, '0')), source, product_id, as_of,
          JSON_SET(CONVERT(facts USING utf8mb4), '$.webOrderLineItemId',
            CONVERT(CONCAT(line, LPAD(seq, 4, '0')) USING utf8mb4)), message, precedence
        FROM purchases, \(SQL.numbers(300)) WHERE source = 50 AND product_id <> ''
        """)
      let answers = try await withThrowingTaskGroup(of: AnsweringService.Answer.self) { group in
        for number in 0..<8 {
          group.addTask {
            try await service.ask(AnsweringService.request(receipt), token: number % 2 == 0 ? service.token : nil)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for answer in answers {
        #expect(answer.code == 0 && answer.source == "ledger", "\(answer.code ?? -1) \(service.reasons)")
        #expect(answer.body["latest_receipt_info"]?.array?.count ?? 0 > 300)
      }
    }
  }

  @Test func `is 21006 for an iOS 6 receipt of a subscription in grace, as over`() async throws {
    var world = AnsweredWorld.world(days: 30, customers: 40)
    func inGrace() -> (CustomerID, SimulatedReceipt.Purchase)? {
      for customer in AnsweredWorld.buyers(world) {
        let state = world.state(of: customer)
        for subscription in state.subscriptions where subscription.status == 4 {
          let id = subscription.originalTransactionID
          if let sold = state.legacyPurchases.last(where: { $0.transaction.originalTransactionID == id }) {
            return (customer, sold)
          }
        }
      }
      return nil
    }
    while inGrace() == nil, world.now < AnsweringService.start + .days(500) {
      world.advance(by: .days(1))
      _ = world.drainNotifications()
    }
    let (customer, sold) = try #require(inGrace())
    try await AnsweringService.with(world, stage: "complete") { service in
      let request = AnsweringService.request(try service.transactionReceipt(of: sold, customer))
      for _ in 0..<2 {
        let ours = try await service.ask(request)
        #expect(ours.source != nil && ours.code == 21_006 && ours.type == "application/json", "\(ours)")
        let differences = AnsweredWorld.differences(ours.body, try await service.apple(request)).filter {
          !$0.contains("/item_id:") && !$0.hasPrefix("/receipt/")
        }
        #expect(differences == [])
      }
    }
  }
}

/// Our answers for a part of the customers, over HTTP.
@Suite struct `The ramp` {
  private static let patience = Interval.minutes(5)

  private static func set(_ stage: String, _ hundredths: Int?, _ service: AnsweringService) async throws {
    try await service.execute(
      """
      UPDATE flags SET stage = \(stage), ramp_share = \(hundredths.map { Int64($0) } ?? 0), ramp_salt = 's',
        epoch = epoch + 1 WHERE environment = 2
      """)
  }

  /// Who answers each customer now.
  private static func sources(
    _ customers: [CustomerID], _ service: AnsweringService
  ) async throws -> [CustomerID: String] {
    var sources: [CustomerID: String] = [:]
    for customer in customers {
      let answer = try await service.ask(AnsweringService.request(try service.receipt(of: customer)))
      #expect(answer.code == 0)
      sources[customer] = answer.source
    }
    return sources
  }

  @Test func `answers the customers of its share, who stay, and goes back at once`() async throws {
    let world = AnsweredWorld.world(customers: 40)
    let buyers = AnsweredWorld.buyers(world)
    try await AnsweringService.with(world, stage: "record") { service in
      _ = try await Self.sources(buyers, service)
      let isKnown = try await eventually(within: Self.patience) {
        let (open, known) = (
          try await service.rowCount("work WHERE state = 0"), try await service.rowCount("histories")
        )
        return open == 0 && known > 0
      }
      #expect(isKnown)
      var ours: [Int: Set<CustomerID>] = [:]
      // Up, back to nobody, and up again.
      for (step, share) in [2_000, 6_000, 0, 6_000, 10_000].enumerated() {
        try await Self.set("ramp", share, service)
        let expected = share == 0 ? 0 : share == 10_000 ? buyers.count : nil
        _ = try await eventually(within: Self.patience) {
          let sources = try await Self.sources(buyers, service)
          let count = sources.values.count { $0 == "ledger" }
          ours[step] = Set(sources.filter { $0.value == "ledger" }.keys)
          let inShare = try await service.rowCount("buckets WHERE bucket < \(share)")
          // Asked again, all have heard of the share: those asked first may have been asked too early.
          let again = try await Self.sources(buyers, service)
          return expected.map { count == $0 } ?? (count > 0 && inShare >= count)
            && (step == 0 || ours[step] != ours[step - 1]) && again == sources
        }
      }
      let (first, second, none) = (try #require(ours[0]), try #require(ours[1]), try #require(ours[2]))
      #expect(
        !first.isEmpty && first.isSubset(of: second) && second.count < buyers.count, "\(first.count) \(second.count)")
      #expect(none.isEmpty && ours[3] == second)
      let failures = service.log.records.filter { $0.message == "a verifyReceipt response could not be composed" }
      let isRamp = try await service.rowCount("flags WHERE stage = 'ramp'") == 1
      let stale = Set(service.reasons).sorted()
      #expect(ours[4] == Set(buyers), "in ramp: \(isRamp), \(stale), \(failures.suffix(5).map(\.metadata))")
      // The kill switch.
      try await Self.set("shadow", nil, service)
      let isBack = try await eventually(within: Self.patience) {
        try await Self.sources(buyers, service).values.allSatisfy { $0 == "apple" }
      }
      #expect(isBack)
    }
  }

  @Test func `leaves to Apple what it cannot answer`() async throws {
    let world = AnsweredWorld.world(customers: 20)
    let buyer = try #require(AnsweredWorld.buyers(world).first)
    try await AnsweringService.with(
      world, stage: "record", isAsking: false, { $0.composers = AnswerComposers { _ in nil } }
    ) { service in
      try await Self.set("ramp", 10_000, service)
      let request = AnsweringService.request(try service.receipt(of: buyer))
      let isDecided = try await eventually(within: Self.patience) {
        let answer = try await service.ask(request)
        #expect(answer.source == "apple" && answer.code == 0)
        return try await service.rowCount("buckets") > 0
      }
      #expect(isDecided)
      // A receipt that nobody proved decides about nobody.
      let buckets = try await service.rowCount("buckets")
      let other = try #require(AnsweredWorld.buyers(world).last)
      let forged = String(
        decoding: try world.state(of: other).receipt.encoded(signedBy: ReceiptPKI.stranger(at: world.now)),
        as: UTF8.self)
      _ = try await service.ask(AnsweringService.request(forged))
      #expect(try await service.rowCount("buckets") == buckets)
    }
  }
}

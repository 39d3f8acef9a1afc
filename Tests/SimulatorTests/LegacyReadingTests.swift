@Suite struct `What the adapter reads of V1` {
  private static let pki = ReceiptPKI.known(at: Bench.start)

  private func adapter() throws -> MessageDecoder {
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try Self.pki.trustedRoot()]))
    return MessageDecoder(verifier: try Bench.verifier(), receipts: reader)
  }

  /// Nothing that was read says other than what V1 can tell of the customer then.
  private func compare(_ reading: DecodedMessage, with state: CustomerState) throws {
    let told = state.legacyTruth.compactMap { $0["transaction"]?.object }
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.app == state.app.bundleID && reading.environment == .sandbox)
    for statement in reading.findings.purchases {
      let fact = try #require(told.first { $0.text("transactionId") == statement.facts.text(.transactionId) })
      for (key, value) in statement.facts.json.byKey where fact[key] != nil { #expect(fact[key] == value, "\(key)") }
      #expect(statement.facts.date(.revocationDate)?.sinceEpoch == fact.number("revocationDate"))
    }
    let read = Set(reading.findings.purchases.compactMap { $0.facts.text(.transactionId) })
    #expect(read == Set(told.compactMap { $0.text("transactionId") }))
  }

  @Test func `notifications is what V1 could tell then, of every type`() throws {
    var app = LifelikeWorld.plan(customers: 14)
    app.era.sandboxSendsEverything = true
    var world = AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 11, start: Bench.start)
    world.advance(by: .days(200))
    let adapter = try adapter()
    var types: Set<String> = []
    for notification in world.drainNotifications() {
      for message in notification.v1 {
        let body = try message.body(signedBy: Self.pki)
        let origin = V1Context(
          app: "com.example.notes", environment: nil, trust: .sharedSecret, receivedAt: notification.due)
        let reading = try adapter.notification(body, message: .sha256(body), origin: origin, now: notification.due)
        types.insert(message.notificationType)
        try compare(reading, with: notification.state)
      }
    }
    #expect(types.count > 5)
  }

  @Test func `answers of verifyReceipt is what V1 can tell now`() throws {
    let (world, _) = LifelikeWorld.year(customers: 12)
    let adapter = try adapter()
    for customer in world.customers() {
      let state = world.state(of: customer)
      let answer = try Simulator.SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now)
        .object(signedBy: Self.pki).encoded()
      let reading = try adapter.evidence(
        answer, app: state.app.bundleID, environment: nil, message: .sha256(answer), now: world.now)
      try compare(reading, with: state)
    }
  }
}

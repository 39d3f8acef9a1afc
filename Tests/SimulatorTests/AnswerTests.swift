@Suite struct `An answer of the simulated App Store Server API` {
  private static let bundleID = "com.example.notes"
  private let world: AppStoreWorld
  private let customer: CustomerID
  private var date: Timestamp { world.now }

  /// Of somebody whose subscription was renewed twice.
  init() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    try world.act(.buy(product: "plus.monthly"), on: customer)
    world.advance(to: Bench.start + .days(80))
    (self.world, self.customer) = (world, customer)
  }

  private var periods: [SimulatedTransaction] { world.transactions(of: customer).map(\.transaction) }

  private func answer() throws -> SimulatedResponse {
    SimulatedResponse(of: world.state(of: customer).app, at: date, signer: try PayloadSigner(Bench.pki))
  }

  private func read(_ answer: JSONObject) throws -> DecodedMessage {
    let body = answer.encoded()
    return try Bench.adapter().evidence(
      body, app: Self.bundleID, environment: nil, message: .sha256(body), now: date)
  }

  @Test func `about statuses is evidence of purchase and renewal`() throws {
    let reading = try read(answer().statuses(world.subscriptions(of: customer).map(\.answer)))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.count == 1)
    #expect(reading.findings.renewals.count == 1)
    #expect(reading.signedAt == date)
  }

  @Test func `about history is evidence of every period`() throws {
    let reading = try read(answer().history(periods))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.count == 3)
    #expect(Set(reading.findings.purchases.map(\.key.line)).count == 3)
    #expect(reading.findings.originalTransactionIDs == [periods[0].originalTransactionID])
  }

  @Test func `about one transaction is evidence of it`() throws {
    let last = try #require(periods.last)
    let reading = try read(answer().transaction(last))
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.purchases.first?.facts.text(.transactionId) == last.transactionID)
  }

  @Test func `tells an app transaction by its id`() throws {
    let download = world.appTransaction(of: customer)
    let jws = try PayloadSigner(Bench.pki).sign(download.payload(signedAt: date))
    let reading = try Bench.adapter().evidence(
      jws, app: Self.bundleID, environment: nil, message: .sha256(jws), now: date)
    #expect(reading.survey.isClean, "\(reading.survey)")
    #expect(reading.findings.appTransactions.first?.key.appTransactionID == download.customer.appTransactionID)
  }
}

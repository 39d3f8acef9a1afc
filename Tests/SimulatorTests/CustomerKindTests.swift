import struct Simulator.SimulatedVerifyReceiptResponse

/// What some customers have that others have not.
@Suite struct `A customer of the simulated App Store` {
  private static let pki = ReceiptPKI.known(at: Bench.start)

  private func read(_ receipt: SimulatedReceipt) throws -> AppReceipt {
    let reader = ReceiptReader(trust: ReceiptTrust(exactly: [try Self.pki.trustedRoot()]))
    guard case .app(let read)? = reader.read(try receipt.encoded(signedBy: Self.pki)).receipt else {
      throw NoReceipt()
    }
    return read
  }

  private struct NoReceipt: Error {}

  private func quiet(
    _ environment: AppStoreEnvironment, _ change: (inout AppPlan) -> Void = { _ in }
  ) -> AppStoreWorld {
    var app = AppPlan.sample("com.example.notes", environment: environment)
    change(&app)
    return AppStoreWorld(plan: WorldPlan(apps: [app]), seed: 1, start: Bench.start)
  }

  @Test(arguments: [
    (AppStoreEnvironment.production, "ProductionVPP"), (.sandbox, "ProductionVPPSandbox"),
  ])
  func `has the receipt of an organisation`(environment: AppStoreEnvironment, type: String) throws {
    var world = quiet(environment)
    let end = Bench.start + .days(365)
    let customer = try world.enrol(
      in: "com.example.notes", environment: environment, licence: VolumeLicence(of: "Example School", until: end))
    try world.act(.buy(product: "archive"), on: customer)
    let state = world.state(of: customer)
    let receipt = try read(state.receipt)
    #expect(receipt.receiptType == type && receipt.expirationDate == end)
    #expect(receipt.organizationName == "Example School")
    let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now).object(
      latestReceipt: [])
    let told = try #require(answer["receipt"]?.object)
    #expect(told.text("receipt_type") == type && told.text("expiration_date_ms") == "\(end.sinceEpoch)")
  }

  @Test func `has ordered the app before it was for sale`() throws {
    var world = quiet(.sandbox)
    let ordered = Bench.start - .days(9)
    let customer = try world.enrol(in: "com.example.notes", environment: .sandbox, preorderedAt: ordered)
    let state = world.state(of: customer)
    #expect(try read(state.receipt).preorderDate == ordered)
    #expect(state.appTransaction.payload(signedAt: nil).number("preorderDate") == ordered.sinceEpoch)
    let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now).object(
      latestReceipt: [])
    #expect(answer["receipt"]?.object?.text("preorder_date_ms") == "\(ordered.sinceEpoch)")
  }

  @Test func `has of a family what attribute 1722 says, in receipts that have it`() throws {
    for (era, expected) in [(V1Era.current, "FAMILY_SHARED"), (.of2020, nil)] {
      var world = quiet(.sandbox) { $0.era = era }
      let owner = try world.enrol(in: "com.example.notes", environment: .sandbox)
      let relative = try world.enrol(in: "com.example.notes", environment: .sandbox, joining: owner)
      try world.act(.buy(product: "archive"), on: owner)
      try world.act(.share(true), on: owner)
      let state = world.state(of: relative)
      #expect(try read(state.receipt).purchases.map { $0.ownership?.rawValue } == [expected == nil ? nil : 1])
      let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now)
        .object(latestReceipt: [])
      for row in answer["receipt"]?.object?["in_app"]?.array ?? [] {
        #expect(row.object?.text("in_app_ownership_type") == expected)
      }
    }
  }

  @Test func `goes on paying until a commitment is over`() throws {
    var world = quiet(.sandbox)
    let customer = try world.enrol(in: "com.example.notes", environment: .sandbox)
    try world.act(.buy(product: "club.committed"), on: customer)
    world.advance(by: .days(40))
    try world.act(.setAutoRenew(false), on: customer)
    let renewal = try #require(world.subscriptions(of: customer).first?.renewal.payload(signedAt: nil))
    #expect(renewal.text("renewalBillingPlanType") == "MONTHLY")
    #expect(renewal.number("autoRenewStatus") == 1, "the next payment comes in any case")
    #expect(renewal["commitmentInfo"]?.object?.number("commitmentAutoRenewStatus") == 0)
    world.advance(to: Bench.start + .days(400))
    let paid = world.transactions(of: customer).map { $0.transaction.payload(signedAt: nil) }
    let commitments = paid.compactMap { $0["commitmentInfo"]?.object }
    #expect(commitments.map { $0.number("billingPeriodNumber") } == (1...12).map(Int64.init))
    #expect(Set(commitments.map { $0.number("totalBillingPeriods") }) == [12])
    #expect(commitments.last?["commitmentExpiresDate"] == paid.last?["expiresDate"])
    #expect(commitments.first?.number("commitmentPrice") == 83_880)
    #expect(world.subscriptions(of: customer).first?.status == 2)
    let reading = try Bench.adapter().read(
      try #require(world.drainNotifications().last?.v2).signed(by: PayloadSigner(Bench.pki)).body)
    #expect(reading.survey.isClean, "\(reading.survey)")
  }

  @Test(arguments: [(false, Int64(4), "EXPIRED/PRODUCT_NOT_FOR_SALE"), (true, 5, "EXPIRED")])
  func `is not renewed by Apple`(isForSale: Bool, intent: Int64, title: String) throws {
    var world = quiet(.sandbox)
    let customer = try world.enrol(in: "com.example.notes", environment: .sandbox)
    try world.act(.buy(product: "plus.monthly"), on: customer)
    try world.act(.refuseRenewal(isForSale: isForSale), on: customer)
    world.advance(by: .days(40))
    let subscription = try #require(world.subscriptions(of: customer).first)
    #expect(subscription.status == 2 && subscription.renewal.expirationIntent?.rawValue == intent)
    #expect(world.drainNotifications().compactMap(\.v2).last?.title == title)
    let pending = world.state(of: customer).legacyRenewals.first
    #expect(pending?.text("expiration_intent") == "\(intent)")
  }

  @Test(arguments: [("pro.monthly", "OFFER_REDEEMED/UPGRADE"), ("lite.weekly", "OFFER_REDEEMED/DOWNGRADE")])
  func `redeems an offer with a change`(product: String, title: String) throws {
    var world = quiet(.sandbox)
    let customer = try world.enrol(in: "com.example.notes", environment: .sandbox)
    try world.act(.buy(product: "plus.monthly"), on: customer)
    try world.act(.buy(product: product, offer: "SPRING"), on: customer)
    world.advance(by: .minutes(1))
    #expect(world.drainNotifications().compactMap(\.v2).last?.title == title)
  }

  @Test func `is answered in the order of the time`() throws {
    for (era, isAscending) in [(V1Era.current, false), (.of2020, true)] {
      var world = quiet(.sandbox) { $0.era = era }
      let customer = try world.enrol(in: "com.example.notes", environment: .sandbox)
      try world.act(.buy(product: "plus.yearly"), on: customer)
      try world.act(.buy(product: "archive"), on: customer)
      try world.act(.buy(product: "news.monthly"), on: customer)
      world.advance(by: .days(70))
      let state = world.state(of: customer)
      let answer = SimulatedVerifyReceiptResponse(about: state.receipt, of: state, requestedAt: world.now)
        .object(latestReceipt: [])
      let rows = (answer["latest_receipt_info"]?.array ?? []).compactMap(\.object)
      let ids = rows.compactMap { $0.text("transaction_id") }
      #expect(ids.count == 5 && (ids == ids.sorted()) == isAscending)
      if !isAscending { #expect(rows.first?.text("product_id") == "plus.yearly") }
    }
  }
}

@Suite struct `An act` {
  /// A step of somebody's life: time passes, and then an act.
  private struct Step {
    let after: Interval
    let act: ManualAction?

    init(_ days: Int64, _ act: ManualAction?) { (after, self.act) = (.days(days), act) }
  }

  /// V2's titles and V1's types of everything told, and the world in the end.
  private func live(_ steps: [Step], hasGrace: Bool = true, era: V1Era = .current) throws -> (
    v2: [String], v1: [String], state: CustomerState
  ) {
    var (world, customer) = try LifelikeWorld.quiet(hasGrace: hasGrace, era: era)
    for step in steps {
      world.advance(by: step.after)
      if let act = step.act { try world.act(act, on: customer) }
    }
    world.advance(by: .seconds(30))
    let told = world.drainNotifications()
    return (told.compactMap(\.v2?.title), told.flatMap { $0.v1.map(\.notificationType) }, world.state(of: customer))
  }

  @Test func `makes a trial a paid subscription`() throws {
    let (v2, v1, state) = try live([Step(1, .buy(product: "plus.monthly", offer: "introductory")), Step(10, nil)])
    #expect(v2 == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    #expect(v1 == ["INITIAL_BUY", "DID_RENEW"])
    #expect(state.purchases.map(\.transaction.price) == [0, 4_990])
    #expect(state.purchases.map(\.transaction.reason) == [.purchase, .renewal])
    #expect(state.subscriptions.map(\.status) == [1])
    let (trial, paid) = (state.purchases[0], state.purchases[1])
    #expect(trial.transaction.expiresDate == paid.transaction.purchaseDate)
    #expect(paid.madeAt <= paid.transaction.purchaseDate && paid.transaction.purchaseDate - paid.madeAt < .days(1))
  }

  @Test func `changes products at once or with the next period, as their levels say`() throws {
    let (v2, v1, state) = try live([
      Step(1, .buy(product: "plus.monthly")), Step(3, .buy(product: "pro.monthly")),
      Step(3, .buy(product: "lite.weekly")), Step(1, .buy(product: "pro.monthly")),
      Step(1, .buy(product: "plus.yearly")), Step(40, nil),
    ])
    #expect(
      v2 == [
        "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/UPGRADE", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", "DID_RENEW",
      ])
    #expect(
      v1 == [
        "INITIAL_BUY", "INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_PREF",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_PREF", "DID_RENEW",
      ])
    #expect(state.purchases.map(\.transaction.product.id) == ["plus.monthly", "pro.monthly", "plus.yearly"])
    #expect(state.purchases.map(\.transaction.isUpgraded) == [true, false, false])
    #expect(Set(state.purchases.map(\.transaction.originalTransactionID)).count == 1)
  }

  @Test func `ends what is cancelled, and begins it again`() throws {
    let (v2, v1, state) = try live([
      Step(1, .buy(product: "plus.monthly")), Step(2, .setAutoRenew(false)), Step(2, .setAutoRenew(true)),
      Step(2, .setAutoRenew(false)), Step(40, .buy(product: "plus.yearly", offer: "welcome.back")),
    ])
    #expect(
      v2 == [
        "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
        "EXPIRED/VOLUNTARY", "SUBSCRIBED/RESUBSCRIBE",
      ])
    #expect(
      v1 == [
        "INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS", "DID_CHANGE_RENEWAL_STATUS",
        "INTERACTIVE_RENEWAL", "DID_CHANGE_RENEWAL_STATUS",
      ])
    #expect(state.purchases.last?.transaction.offer?.kind == .winBack)
    #expect(
      state.subscriptions.first?.renewal.recentSubscriptionStartDate == state.purchases.last?.transaction.purchaseDate)
  }

  @Test func `is paid for within grace where the period ended, and after it at once`() throws {
    let failing = [Step(1, .buy(product: "plus.monthly")), Step(2, .setPayment(works: false))]
    let inGrace = try live(failing + [Step(33, .setPayment(works: true))])
    #expect(inGrace.v2 == ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY"])
    #expect(inGrace.v1 == ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RECOVER"])
    let paid = inGrace.state.purchases.map(\.transaction)
    #expect(paid.count == 2 && paid[0].expiresDate == paid[1].purchaseDate)

    let later = try live(failing + [Step(60, .setPayment(works: true))])
    #expect(later.v2.suffix(2) == ["GRACE_PERIOD_EXPIRED", "DID_RENEW/BILLING_RECOVERY"])
    #expect(later.state.purchases.last?.transaction.purchaseDate == Bench.start + .days(63))

    let without = try live(failing + [Step(40, .setPayment(works: true))], hasGrace: false, era: .of2020)
    #expect(without.v2 == ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RENEW/BILLING_RECOVERY"])
    #expect(without.v1 == ["INITIAL_BUY", "DID_FAIL_TO_RENEW", "RENEWAL"])
  }

  @Test(arguments: [(Int64(35), Int64(4)), (60, 3), (100, 2)])
  func `leaves what is not paid in grace, in retry, and then expired`(days: Int64, status: Int64) throws {
    let (v2, v1, state) = try live([
      Step(1, .buy(product: "plus.monthly")), Step(2, .setPayment(works: false)), Step(days - 3, nil),
    ])
    #expect(state.subscriptions.first?.status == status)
    #expect(v2.contains("EXPIRED/BILLING_RETRY") == (status == 2))
    #expect((v1.last == "DID_CHANGE_RENEWAL_STATUS") == (status == 2))
    #expect(state.subscriptions.first?.renewal.expirationIntent == .billingError)
  }

  @Test func `ends at once what is cancelled in retry, and with its grace what is in grace`() throws {
    let failing = [Step(1, .buy(product: "plus.monthly")), Step(2, .setPayment(works: false))]
    let retry = try live(failing + [Step(60, .setAutoRenew(false)), Step(1, nil)])
    #expect(retry.v2.suffix(2) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "EXPIRED/VOLUNTARY"])
    let grace = try live(failing + [Step(33, .setAutoRenew(false)), Step(2, nil)])
    #expect(grace.v2.last == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED")
    #expect(grace.state.subscriptions.map(\.status) == [4])
    #expect(grace.state.legacyRenewals == [])
  }

  @Test func `asks about a price, and ends what is not agreed to`() throws {
    let announced = [
      Step(1, .buy(product: "plus.monthly")), Step(3, .announcePrice(6_990, needsConsent: true)),
    ]
    let refused = try live(announced + [Step(40, nil)])
    #expect(refused.v2 == ["SUBSCRIBED/INITIAL_BUY", "PRICE_INCREASE/PENDING", "EXPIRED/PRICE_INCREASE"])
    #expect(refused.v1 == ["INITIAL_BUY", "PRICE_INCREASE_CONSENT"])
    let agreed = try live(announced + [Step(3, .agreeToPrice()), Step(40, nil)])
    #expect(agreed.v2 == ["SUBSCRIBED/INITIAL_BUY", "PRICE_INCREASE/PENDING", "PRICE_INCREASE/ACCEPTED", "DID_RENEW"])
    #expect(agreed.state.purchases.last?.transaction.price == 6_990)
    let told = try live([
      Step(1, .buy(product: "plus.monthly")), Step(3, .announcePrice(6_990, needsConsent: false)), Step(70, nil),
    ])
    #expect(told.v2 == ["SUBSCRIBED/INITIAL_BUY", "PRICE_INCREASE/ACCEPTED", "DID_RENEW", "DID_RENEW"])
    #expect(told.state.purchases.map(\.transaction.price) == [4_990, 6_990, 6_990])
  }

  @Test func `gives money back, in part, and takes that back`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let id = try #require(try world.act(.buy(product: "plus.monthly"), on: customer).first)
    world.advance(by: .days(5))
    try world.act(.requestRefund(transaction: id, reason: "OTHER"), on: customer)
    try world.act(.declineRefund(transaction: id), on: customer)
    try world.act(.refund(transaction: id, percentage: 40_000, isForAnIssue: true), on: customer)
    #expect(world.subscriptions(of: customer).map(\.status) == [5])
    #expect(world.refunds(of: customer).map(\.transaction.transactionID) == [id])
    let revocation = try #require(world.transactions(of: customer).first?.transaction.revocation)
    #expect(revocation == Revocation(at: world.now, .refundProrated, reason: 1, percentage: 40_000))
    try world.act(.reverseRefund(transaction: id), on: customer)
    #expect(world.subscriptions(of: customer).map(\.status) == [1])
    #expect(world.refunds(of: customer) == [])
    world.advance(by: .days(40))
    let told = world.drainNotifications()
    #expect(
      told.compactMap(\.v2?.title) == [
        "SUBSCRIBED/INITIAL_BUY", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "REFUND",
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND_REVERSED", "EXPIRED/VOLUNTARY",
      ])
    #expect(
      told.flatMap { $0.v1.map(\.notificationType) } == ["INITIAL_BUY", "CANCEL", "DID_CHANGE_RENEWAL_STATUS"])
    #expect(told.first { $0.v2?.notificationType == "REFUND" }?.v2?.subject?.status == 5)
  }

  @Test func `leaves a newer period alone when an older one is refunded`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let id = try #require(try world.act(.buy(product: "plus.monthly"), on: customer).first)
    world.advance(by: .days(40))
    try world.act(.refund(transaction: id), on: customer)
    #expect(world.subscriptions(of: customer).map(\.status) == [1])
    #expect(world.subscriptions(of: customer).first?.renewal.willRenew == true)
  }

  @Test func `shares with the family, and ends that`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let child = try world.enrol(in: "com.example.notes", environment: .sandbox, joining: customer)
    try world.act(.buy(product: "pro.monthly"), on: customer)
    let archive = try #require(try world.act(.buy(product: "archive"), on: customer).first)
    try world.act(.share(true), on: customer)
    world.advance(by: .days(40))
    let shared = world.transactions(of: child).map(\.transaction)
    #expect(shared.map(\.ownership) == [.familyShared, .familyShared, .familyShared])
    #expect(Set(shared.map(\.originalTransactionID)).count == 2)
    #expect(
      Set(shared.map(\.transactionID)).isDisjoint(
        with: world.transactions(of: customer).map(\.transaction.transactionID)))
    #expect(world.subscriptions(of: child).map(\.status) == [1])
    let second = try #require(try world.act(.buy(product: "season.pass"), on: customer).first)
    try world.act(.refund(transaction: archive), on: customer)
    try world.act(.refund(transaction: second), on: customer)
    #expect(world.subscriptions(of: child).map(\.status) == [1])
    try world.act(.share(false), on: customer)
    #expect(world.subscriptions(of: child).map(\.status) == [5])
    #expect(world.transactions(of: child).last?.transaction.revocation?.kind == .familyRevoke)
    world.advance(by: .minutes(1))
    let told = world.drainNotifications()
    let theirs = told.filter { $0.customer == child }
    #expect(
      theirs.compactMap(\.v2?.title) == ["ONE_TIME_CHARGE", "SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "REVOKE", "REVOKE"])
    #expect(theirs.flatMap { $0.v1.map(\.notificationType) } == ["DID_RENEW", "REVOKE", "REVOKE"])
    #expect(throws: ManualActionError(.notTheirs)) { try world.act(.setAutoRenew(false), on: child) }
  }

  @Test func `ends for the family what the purchaser changes to something not shared`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let child = try world.enrol(in: "com.example.notes", environment: .sandbox, joining: customer)
    try world.act(.share(true), on: customer)
    try world.act(.buy(product: "pro.monthly"), on: customer)
    try world.act(.buy(product: "plus.monthly"), on: customer)
    world.advance(by: .days(40))
    let theirs = world.drainNotifications().filter { $0.customer == child }.compactMap(\.v2?.title)
    #expect(theirs == ["SUBSCRIBED/INITIAL_BUY", "EXPIRED/VOLUNTARY"])
    #expect(world.subscriptions(of: child).map(\.status) == [2])
    #expect(world.subscriptions(of: customer).map(\.status) == [1])
  }

  @Test func `gives V1 another transaction id at each restore, and nothing else`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    try world.act(.buy(product: "plus.monthly"), on: customer)
    world.advance(by: .days(5))
    let before = try #require(world.transactions(of: customer).first)
    try world.act(.restore, on: customer)
    let once = try #require(world.transactions(of: customer).first)
    world.advance(by: .days(1))
    try world.act(.restore, on: customer)
    let twice = try #require(world.transactions(of: customer).first)
    #expect(before.transaction == twice.transaction)
    #expect(Set([before, once, twice].map(\.legacyTransactionID)).count == 3)
    #expect(twice.restoredTransactionIDs == [once.legacyTransactionID, twice.legacyTransactionID])
    #expect(twice.legacyOriginalPurchaseDate == Bench.start + .days(6))
    let app = "com.example.notes"
    #expect(world.customer(ofAnyTransactionID: once.legacyTransactionID, app: app, environment: .sandbox) == customer)
    let rows = try #require(world.state(of: customer).latestPurchases.first)
    let row = SimulatedV1Row(rows, in: .latestReceiptInfo).object
    #expect(row.text("transaction_id") == twice.legacyTransactionID)
    #expect(row.text("web_order_line_item_id") == twice.transaction.webOrderLineItemID)
    #expect(row.text("original_transaction_id") == twice.transaction.originalTransactionID)
  }

  @Test func `has its bounds`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    try world.act(.buy(product: "archive"), on: customer)
    for _ in 0..<500 { try world.act(.restore, on: customer) }
    #expect(Set(world.transactions(of: customer)[0].restoredTransactionIDs).count == 500)
    #expect(throws: ManualActionError(.full)) { try world.act(.restore, on: customer) }
    let app = "com.example.notes"
    for _ in 1..<6 { _ = try world.enrol(in: app, environment: .sandbox, joining: customer) }
    #expect(throws: AppStoreWorld.EnrolmentError.full) {
      try world.enrol(in: app, environment: .sandbox, joining: customer)
    }
    #expect(throws: AppStoreWorld.EnrolmentError.unknownRelative) {
      try world.enrol(in: app, environment: .sandbox, joining: CustomerID(household: 9))
    }
    #expect(throws: ManualActionError(.notNow)) {
      try world.act(.buy(product: "plus.monthly", offer: "welcome.back"), on: customer)
    }
  }

  @Test func `of finishing takes a consumable out of receipts, not out of history`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let id = try #require(try world.act(.buy(product: "coins.100", quantity: 3), on: customer).first)
    #expect(world.state(of: customer).legacyPurchases.map(\.transactionID) == [id])
    try world.act(.finish(transaction: id), on: customer)
    #expect(world.state(of: customer).legacyPurchases.isEmpty)
    #expect(world.transactions(of: customer).map(\.isFinished) == [true])
  }

  @Test func `redeems offers for as many periods as they have`() throws {
    let (v2, v1, state) = try live([
      Step(1, .buy(product: "plus.monthly")), Step(2, .buy(product: "plus.monthly", offer: "stay.3")), Step(140, nil),
    ])
    #expect(v2.prefix(3) == ["SUBSCRIBED/INITIAL_BUY", "OFFER_REDEEMED", "DID_RENEW"])
    #expect(v1.prefix(3) == ["INITIAL_BUY", "INTERACTIVE_RENEWAL", "DID_RENEW"])
    #expect(state.purchases.map(\.transaction.price) == [4_990, 2_495, 2_495, 2_495, 4_990])
    #expect(state.purchases.map(\.transaction.offer?.identifier) == [nil, "stay.3", "stay.3", "stay.3", nil])
  }

  @Test func `extends a period`() throws {
    let (v2, _, state) = try live([
      Step(1, .buy(product: "lite.weekly")), Step(1, .extend(days: 30)), Step(33, nil),
    ])
    #expect(v2 == ["SUBSCRIBED/INITIAL_BUY", "RENEWAL_EXTENDED"])
    #expect(state.purchases.first?.transaction.expiresDate == Bench.start + .days(38))
    #expect(state.subscriptions.first?.renewal.renewalDate == Bench.start + .days(38))
  }

  @Test func `sets an account token on every period of a subscription`() throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let id = try #require(try world.act(.buy(product: "plus.monthly"), on: customer).first)
    world.advance(by: .days(40))
    try world.act(.buy(product: "archive"), on: customer)
    let token = "11111111-2222-4333-8444-555555555555"
    try world.act(.setAccountToken(token, originalTransaction: id), on: customer)
    #expect(world.transactions(of: customer).map { $0.transaction.appAccountToken == token } == [true, true, false])
  }

  @Test(arguments: [
    (ManualAction.buy(product: "nothing"), ManualActionError.Code.unknownProduct),
    (.buy(product: "coins.100", quantity: 11), .notNow),
    (.buy(product: "plus.monthly", offer: "none"), .unknownOffer),
    (.buy(product: "plus.monthly", offer: "introductory"), .notNow),
    (.buy(product: "plus.monthly", offer: "welcome.back"), .notNow), (.buy(product: "plus.yearly"), .notNow),
    (.setAutoRenew(false), .ambiguousSubscription), (.setAutoRenew(false, subscription: "7"), .unknownSubscription),
    (.refund(transaction: "7"), .unknownTransaction), (.reverseRefund(transaction: "7"), .unknownTransaction),
    (.agreeToPrice(subscription: "first"), .notNow), (.extend(days: 91, subscription: "first"), .notNow),
    (.setAutoRenew(true, subscription: "first"), .notNow),
    (.announcePrice(-1, needsConsent: true, subscription: "first"), .notNow),
    (.setAccountToken("x", originalTransaction: "7"), .unknownTransaction),
  ])
  func `is refused when it cannot be`(act: ManualAction, code: ManualActionError.Code) throws {
    var (world, customer) = try LifelikeWorld.quiet()
    let first = try #require(try world.act(.buy(product: "plus.yearly"), on: customer).first)
    try world.act(.buy(product: "news.monthly"), on: customer)
    let named: ManualAction =
      switch act {
      case .agreeToPrice("first"): .agreeToPrice(subscription: first)
      case .extend(let days, "first"): .extend(days: days, subscription: first)
      case .setAutoRenew(let isOn, "first"): .setAutoRenew(isOn, subscription: first)
      case .announcePrice(let price, let consent, "first"):
        .announcePrice(price, needsConsent: consent, subscription: first)
      default: act
      }
    let before = Array(world.truth())
    #expect(throws: ManualActionError(code)) { try world.act(named, on: customer) }
    #expect(throws: ManualActionError(.unknownCustomer)) { try world.act(named, on: CustomerID(household: 99)) }
    #expect(Array(world.truth()) == before)
  }
}

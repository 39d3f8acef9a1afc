/// A period as signed V2 data tells it.
private struct Period: Sendable {
  var line: String
  var from: Int64
  var to: Int64?
  var isUpgraded = false
  var revoked: Int64?

  init(_ line: String, from: Int64, to: Int64?, isUpgraded: Bool = false, revoked: Int64? = nil) {
    (self.line, self.from, self.to, self.isUpgraded, self.revoked) = (line, from, to, isUpgraded, revoked)
  }

  var statement: PurchaseStatement {
    var values: [PurchaseField: JSONValue] = [
      .type: "Auto-Renewable Subscription", .purchaseDate: .integer(from), .transactionId: .string("t\(line)"),
    ]
    values[.expiresDate] = to.map(JSONValue.integer)
    if isUpgraded { values[.isUpgraded] = true }
    values[.revocationDate] = revoked.map(JSONValue.integer)
    return said(at: 1, line: line, values)
  }
}

private struct Case: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var periods: [Period]
  var renewal: [RenewalStatement]
  /// At each time the status.
  var expected: [(Int64, SubscriptionStatus?)]

  init(
    _ testDescription: String, _ periods: [Period], renewal: [RenewalStatement] = [],
    _ expected: [(Int64, SubscriptionStatus?)]
  ) {
    (self.testDescription, self.periods, self.renewal, self.expected) = (testDescription, periods, renewal, expected)
  }

  var subscription: Subscription? {
    Subscription(
      key: key, purchases: Purchase.fold(periods.map(\.statement), rules: purchaseRules),
      renewal: Resolved(renewal, rules: renewalRules))
  }
}

private let key = SubscriptionKey(app: app, environment: .production, originalTransactionID: "1")
private let failing: [RenewalField: JSONValue] = [.isInBillingRetryPeriod: true]
private let grace: [RenewalField: JSONValue] = [.isInBillingRetryPeriod: true, .gracePeriodExpiresDate: 300]

@Suite struct `A subscription's status` {
  @Test(
    arguments: [
      Case("one period", [Period("1", from: 100, to: 200)], [(100, .active), (199, .active), (200, .expired)]),
      Case(
        "renewed", [Period("1", from: 100, to: 200), Period("2", from: 200, to: 300)],
        [(199, .active), (200, .active), (299, .active), (300, .expired)]),
      Case(
        "renewed a day early, dated to the end of the period before", [Period("2", from: 200, to: 300)],
        [(150, .active), (200, .active), (300, .expired)]),
      Case(
        "in retry", [Period("1", from: 100, to: 200)], renewal: [saidOfRenewal(at: 200, failing)],
        [(199, .active), (200, .billingRetry), (10_000, .billingRetry)]),
      Case(
        "in grace, then retry", [Period("1", from: 100, to: 200)], renewal: [saidOfRenewal(at: 200, grace)],
        [(199, .active), (200, .billingGracePeriod), (299, .billingGracePeriod), (300, .billingRetry)]),
      Case(
        "grace, and Apple gave up", [Period("1", from: 100, to: 200)],
        renewal: [saidOfRenewal(at: 200, grace), saidOfRenewal(at: 400, [.isInBillingRetryPeriod: false])],
        [(250, .expired), (400, .expired)]),
      Case(
        "grace of the period before, recovered since",
        [Period("1", from: 100, to: 200), Period("2", from: 210, to: 250)], renewal: [saidOfRenewal(at: 200, grace)],
        [(205, .active), (249, .active), (250, .expired), (299, .expired)]),
      Case(
        "grace of the period before; since then V1 spoke of something else",
        [Period("1", from: 100, to: 200), Period("2", from: 210, to: 250)],
        renewal: [saidOfRenewal(at: 200, grace), saidOfRenewal(.notificationV1, at: 240, [.autoRenewStatus: 0])],
        [(249, .active), (250, .expired)]),
      Case(
        "renewal information told at the very moment the period began", [Period("1", from: 200, to: 250)],
        renewal: [saidOfRenewal(at: 200, grace)], [(250, .billingGracePeriod)]),
      Case(
        "refunded", [Period("1", from: 100, to: 200, revoked: 150)],
        [(149, .active), (150, .revoked), (200, .revoked)]),
      Case(
        "refunded while in grace", [Period("1", from: 100, to: 200, revoked: 220)],
        renewal: [saidOfRenewal(at: 200, grace)], [(219, .billingGracePeriod), (220, .revoked)]),
      Case(
        "refund of an older period", [Period("1", from: 100, to: 200, revoked: 250), Period("2", from: 200, to: 300)],
        [(249, .active), (250, .active), (300, .expired)]),
      Case(
        "refund of a period renewed early, while the one before runs",
        [Period("1", from: 100, to: 200), Period("2", from: 200, to: 300, revoked: 190)],
        [(189, .active), (190, .active), (199, .active), (200, .revoked)]),
      Case(
        "bought again after a refund",
        [Period("1", from: 100, to: 200, revoked: 150), Period("2", from: 160, to: 190)],
        [(170, .active), (190, .revoked)]),
      Case(
        "upgraded: the new period decides although the old one ends later",
        [Period("1", from: 100, to: 400, isUpgraded: true), Period("2", from: 150, to: 180)],
        [(170, .active), (180, .expired), (399, .expired)]),
      Case(
        "upgraded, and the new period not known yet", [Period("1", from: 100, to: 200, isUpgraded: true)],
        [(199, .active), (200, .expired)]),
      Case(
        "upgraded, and the new period refunded",
        [Period("1", from: 100, to: 400, isUpgraded: true), Period("2", from: 150, to: 350, revoked: 160)],
        [(159, .active), (160, .revoked)]),
      Case(
        "a year was refunded, and the month that was bought since is in grace, then retry",
        [Period("1", from: 100, to: 1_000, revoked: 110), Period("2", from: 120, to: 200)],
        renewal: [saidOfRenewal(at: 200, grace)],
        [(150, .active), (200, .billingGracePeriod), (300, .billingRetry), (1_000, .billingRetry)]),
      Case(
        "recovered in grace, and that refunded",
        [Period("1", from: 100, to: 200), Period("2", from: 210, to: 400, revoked: 240)],
        renewal: [saidOfRenewal(at: 200, grace)], [(210, .active), (239, .active), (240, .revoked)]),
      Case("no end known", [Period("1", from: 100, to: nil)], [(150, nil)]),
      Case("no end known, refunded", [Period("1", from: 100, to: nil, revoked: 150)], [(149, nil), (150, .revoked)]),
      Case(
        "an end known of the older period only", [Period("1", from: 100, to: 200), Period("2", from: 200, to: nil)],
        [(199, .active), (200, .expired)]),
    ])
  fileprivate func `follows from the periods, the renewal and the time`(row: Case) throws {
    let subscription = try #require(row.subscription)
    for (now, expected) in row.expected {
      #expect(subscription.status(at: Timestamp(now)) == expected, "at \(now)")
    }
  }

  @Test func `has Apple's numbers and grants access as Apple does`() {
    #expect(SubscriptionStatus.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
    #expect(SubscriptionStatus.allCases.map(\.grantsAccess) == [true, false, false, true, false])
    #expect(
      SubscriptionStatus.allCases.map(\.name) == ["active", "expired", "billingRetry", "billingGracePeriod", "revoked"])
  }
}

@Suite struct `A subscription` {
  @Test func `is made of the periods below its originalTransactionId alone`() throws {
    let statements = [
      Period("1", from: 100, to: 200).statement, Period("2", from: 50, to: 60).statement,
      said(at: 1, line: "", [.type: "Consumable", .purchaseDate: 1]),
      said(at: 1, line: "9", original: "2", [.type: "Auto-Renewable Subscription", .expiresDate: 9_000]),
    ]
    let purchases = Purchase.fold(statements, rules: purchaseRules)
    let subscription = try #require(Subscription(key: key, purchases: purchases, renewal: nil))
    #expect(subscription.periods.map(\.key.line.text) == ["2", "1"])
    #expect(subscription.current?.key.line.text == "1")
    #expect(subscription.current(at: Timestamp(55))?.key.line.text == "2")
    #expect(Subscription(key: key, purchases: purchases.filter { !$0.isSubscription }, renewal: nil) == nil)
  }

  @Test func `keeps its product until the period of another one begins, though it was charged for early`() throws {
    let periods = [Period("1", from: 100, to: 200), Period("2", from: 200, to: 300)].map(\.statement)
    let subscription = try #require(
      Subscription(key: key, purchases: Purchase.fold(periods, rules: purchaseRules), renewal: nil))
    let lines = [150, 199, 200].map { subscription.current(at: Timestamp($0))?.key.line.text }
    #expect(lines == ["1", "1", "2"])
  }

  @Test(
    arguments: [("1", nil, true), ("2", nil, false), (nil, "t1", true), (nil, "t2", false), ("p7", "t9", false)]
      as [(String?, String?, Bool)])
  func `calls an event superseded when a later period was bought`(
    line: String?, transaction: String?, isSuperseded: Bool
  ) throws {
    let periods = [Period("1", from: 100, to: 200), Period("2", from: 200, to: 300)]
    let purchases = Purchase.fold(periods.map(\.statement), rules: purchaseRules)
    let subscription = try #require(Subscription(key: key, purchases: purchases, renewal: nil))
    let event = told(line: line, transaction: transaction)
    #expect(subscription.isSuperseded(event) == isSuperseded)
  }
}

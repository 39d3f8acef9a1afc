/// A customer with many purchases, in one of the forms in which many occur.
private struct Large: Sendable {
  enum Shape: String, CaseIterable, Sendable {
    /// Consumables: each has an originalTransactionId of its own.
    case linked
    /// Periods of one subscription whose lines Apple named.
    case periods
    /// The same as V1 and receipts tell them: two lines for each period, none of them named.
    case unnamed
    /// Periods that alternate between two products, each bought while the one before it ran.
    case upgraded
  }

  var statements: [PurchaseStatement] = []
  var events: [Event] = []
  var attributions: [AccountAssociation] = []

  init(_ shape: Shape, _ count: Int) {
    for number in 0..<Int64(count) {
      // Of as many digits, so that lines made of them are in the order of the table whatever the count.
      let (date, id) = (100_000_000 + number * 10_000, "\(2_000_000 + number)")
      var values: [PurchaseField: JSONValue] = [
        .transactionId: .string(id), .productId: "monthly", .purchaseDate: .integer(date), .quantity: 1,
      ]
      var original = "1"
      var line = "\(5_000_000 + number)"
      switch shape {
      case .linked:
        (original, line) = (id, "")
        values[.type] = "Consumable"
      case .periods, .unnamed, .upgraded:
        values[.type] = "Auto-Renewable Subscription"
        values[.expiresDate] = .integer(date + (shape == .upgraded ? 15_000 : 10_000))
        values[.transactionReason] = number == 0 ? "PURCHASE" : "RENEWAL"
        if shape == .upgraded, number.isMultiple(of: 2) { values[.productId] = "yearly" }
      }
      switch shape {
      case .linked, .periods, .upgraded: statements.append(said(at: date, line: line, original: original, values))
      case .unnamed:
        line = "p\(date)"
        statements.append(said(.notificationV1, at: date, line: line, values))
        values[.transactionId] = .string("9\(id)")
        statements.append(said(.verifiedReceipt, at: date, line: "p\(date + 1)", values))
      }
      // What nobody told of is learned.
      if number.isMultiple(of: 2) {
        events.append(
          told(uuid: "u\(number)", original: original, line: line, transaction: id, date: date, at: date))
      }
      attributions.append(
        AccountAssociation(
          .appAccountToken, "account \(number / 100)", of: original, line: Line(text: line), from: Timestamp(date),
          to: Timestamp(date), message: [1]))
    }
  }
}

@Suite(.computesForLong) struct `A customer of many purchases` {
  /// In proportion it is 12; where each is compared with each it is 144.
  private static let bound = 30.0

  // Of thousands where it matters, as the benchmark `lookup.large` measures it; here without optimisation.
  @Test(arguments: Large.Shape.allCases)
  private func `takes twelve times as long as one of a twelfth of them, at every step`(shape: Large.Shape) {
    let (small, large) = (Large(shape, 200), Large(shape, 2_400))
    func check(_ name: String, _ work: (Large, [Purchase]) -> Void) {
      let folded = [small, large].map { Purchase.fold($0.statements, rules: purchaseRules) }
      let ratio = Growth.ratio(
        below: Self.bound, small: { work(small, folded[0]) }, large: { work(large, folded[1]) })
      #expect(ratio < Self.bound, "\(name)")
    }
    check("fold") { told, _ in _ = Purchase.fold(told.statements, rules: purchaseRules) }
    check("events") { told, purchases in _ = MergedEvent.toldAndLearned(in: told.events, purchases: purchases) }
    check("transfers") { told, purchases in _ = AccountTransfer.all(in: told.attributions, purchases: purchases) }
    check("accounts") { told, _ in _ = AccountAssociation.merged(told.attributions) }
    check("accounts out of order") { told, _ in _ = AccountAssociation.merged(told.attributions.reversed()) }
    check("subscription") { told, purchases in
      let byKey = Dictionary(grouping: purchases, by: \.key.subscription)
      let subscriptions = byKey.compactMap { Subscription(key: $0.key, purchases: $0.value, renewal: nil) }
      let periods = PeriodIndex(subscriptions)
      _ = told.events.count { periods.isSuperseded($0) }
      for subscription in subscriptions {
        _ = subscription.accessDecision(at: Timestamp(0))
        _ = subscription.overdueRenewal(at: Timestamp(1 << 50), allowing: .hours(1))
        _ = subscription.expectedRenewals(
          from: Timestamp(0), to: Timestamp(1 << 50), allowing: .hours(1), told: told.events)
      }
    }
  }

  @Test(arguments: Large.Shape.allCases)
  private func `is told the same events as purchase by purchase`(shape: Large.Shape) throws {
    let told = Large(shape, 60)
    let purchases = Purchase.fold(told.statements, rules: purchaseRules)
    #expect(purchases.count == 60)
    let subscriptions = Dictionary(grouping: purchases, by: \.key.subscription).compactMap {
      Subscription(key: $0.key, purchases: $0.value, renewal: nil)
    }
    let periods = PeriodIndex(subscriptions)
    for event in told.events {
      #expect(
        periods.isSuperseded(event) == subscriptions.contains { $0.isSuperseded(event) }, "\(event.date.sinceEpoch)")
    }
    let all = MergedEvent.toldAndLearned(in: told.events, purchases: purchases)
    let learned = all.filter(\.isLearned).map(\.event)
    for purchase in purchases where learned.contains(where: purchase.isTold) {
      #expect(!told.events.contains(where: purchase.isTold))
    }
    #expect(learned.count == 30)
    #expect(all.count(where: { !$0.isLearned }) == told.events.count)
  }
}

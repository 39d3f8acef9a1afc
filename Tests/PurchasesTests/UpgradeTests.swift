private let type: JSONValue = "Auto-Renewable Subscription"

/// A period of `product`, bought and ended at these times, as `source` said at `asOf`.
private func period(
  _ line: String, _ product: String, from: Int64, to: Int64, _ source: Source = .signedV2, at asOf: Int64,
  _ more: [PurchaseField: JSONValue] = [:]
) -> PurchaseStatement {
  let own: [PurchaseField: JSONValue] = [
    .type: type, .productId: .string(product), .transactionId: .string("t\(line)"), .purchaseDate: .integer(from),
    .expiresDate: .integer(to),
  ]
  return said(source, at: asOf, line: line, message: UInt8(asOf % 250), own.merging(more) { _, new in new })
}

@Suite struct `An upgrade` {
  private static let year = period("1", "yearly", from: 10_000, to: 400_000, at: 10_000)
  private static let month = period("2", "monthly", from: 50_000, to: 80_000, at: 50_000)

  /// Which lines are marked, by all sources and by the signed ones.
  private func marked(_ statements: PurchaseStatement...) -> [[String]] {
    let orders = [statements, statements.reversed(), statements + statements.shuffled()]
    let answers = orders.map { statements in
      let purchases = Purchase.fold(statements, rules: purchaseRules)
      return [purchases, purchases.compactMap(\.signed)].map { $0.filter(\.isUpgraded).map(\.key.line.text) }
    }
    #expect(Set(answers).count == 1, "in any order")
    return answers[0]
  }

  @Test func `of which Apple told in the new purchase alone marks the earlier`() throws {
    #expect(marked(Self.year, Self.month) == [["1"], ["1"]])
    let resolved = try #require(Purchase.fold([Self.year, Self.month], rules: purchaseRules).first?.resolved)
    #expect(resolved.facts.isInferred(.isUpgraded))
    let reason = try #require(resolved.origins[.isUpgraded])
    #expect(reason.source == .signedV2 && reason.asOf == Timestamp(50_000) && reason.isInferred)
    #expect(reason.message == Self.month.message && reason.rule == purchaseRules[.isUpgraded].id)
  }

  @Test func `to something that ends sooner gives no access afterwards`() throws {
    let key = SubscriptionKey(app: app, environment: .production, originalTransactionID: "1")
    let subscription = try #require(
      Subscription(
        key: key, purchases: Purchase.fold([Self.year, Self.month], rules: purchaseRules), renewal: nil))
    #expect(subscription.current(at: Timestamp(60_000))?.productID == "monthly")
    let decision = subscription.accessDecision(at: Timestamp(80_000))
    #expect(decision.status == .expired && decision.isConfirmed && !decision.grantsAccess)
  }

  @Test func `that only V1 tells leaves what Apple signed as it is`() {
    let told = period("2", "monthly", from: 50_000, to: 80_000, .notificationV1, at: 50_000)
    #expect(marked(Self.year, told) == [["1"], []])
    #expect(marked(Self.year, told, Self.month) == [["1"], ["1"]])
  }

  @Test func `gives way to whoever states how the earlier purchase stands`() {
    let silent = period("1", "yearly", from: 10_000, to: 400_000, at: 60_000)
    #expect(marked(silent, Self.month) == [[], []], "signed after the purchase, and not marked")
    let denied = period(
      "1", "yearly", from: 10_000, to: 400_000, .verifyReceiptAnswer, at: 60_000, [.isUpgraded: false])
    #expect(marked(Self.year, denied, Self.month) == [[], ["1"]])
    let stated = period("1", "yearly", from: 10_000, to: 400_000, at: 60_000, [.isUpgraded: true])
    #expect(marked(stated, Self.month) == [["1"], ["1"]])
  }

  @Test func `is none where the product is the same, or the earlier period is over or was taken back`() {
    let again = period("2", "yearly", from: 50_000, to: 80_000, at: 50_000)
    #expect(marked(Self.year, again) == [[], []])
    // A downgrade begins with the second in which the period before ends; V1 tells no milliseconds.
    let before = period("1", "yearly", from: 10_000, to: 50_250, at: 10_000)
    #expect(marked(before, Self.month) == [[], []])
    let refunded = period("1", "yearly", from: 10_000, to: 400_000, at: 40_000, [.revocationDate: 30_000])
    #expect(marked(refunded, Self.month) == [[], []])
    var group = Self.month
    group.key.originalTransactionID = "9"
    #expect(marked(Self.year, group) == [[], []], "of another group")
    let coins = period("2", "coins", from: 50_000, to: 80_000, at: 50_000, [.type: "Consumable"])
    #expect(marked(Self.year, coins) == [[], []])
  }

  @Test func `is none that a receipt nobody verified tells of`() {
    let stranger = period("2", "monthly", from: 50_000, to: 80_000, .unverifiedReceipt, at: 50_000)
    #expect(marked(Self.year, stranger) == [[], []])
  }

  @Test func `follows another, and renewals of what replaced it`() {
    let back = period("3", "yearly", from: 60_000, to: 500_000, at: 60_000)
    let renewed = period("4", "yearly", from: 500_000, to: 900_000, at: 500_000)
    #expect(marked(Self.year, Self.month, back, renewed) == [["1", "2"], ["1", "2"]])
    let next = period("5", "monthly", from: 80_000, to: 110_000, at: 80_000)
    #expect(marked(Self.year, Self.month, next) == [["1"], ["1"]])
  }
}

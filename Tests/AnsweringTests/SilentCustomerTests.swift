@testable import Answering
@testable import Ledger

/// When a subscription that is over counts as one of which news is missing.
@Suite struct `A customer of whom news may be missing` {
  private static let app = "com.example.app"
  private static let hour: Int64 = 3_600_000

  /// A period of one hour that begins at 0, and what was last said of its renewal.
  private static func customer(
    periodSaidAt: Int64, renewalSaidAt: Int64, _ renewal: [RenewalField: JSONValue], historyAskedAt: Int64? = nil
  ) -> ResolvedCustomer {
    var knowledge = CustomerStatements(
      scope: AppScope(app: App.ID(1), environment: .production), asked: ["1"])
    let period: [PurchaseField: JSONValue] = [
      .type: "Auto-Renewable Subscription", .purchaseDate: 0, .expiresDate: .integer(hour), .transactionId: "1",
      .transactionReason: "RENEWAL",
    ]
    knowledge.purchases = [
      PurchaseStatement(
        key: PurchaseKey(
          app: app, environment: .production, originalTransactionID: "1", line: Line(text: "10")), source: .signedV2,
        rank: Rank(asOf: Timestamp(periodSaidAt * hour), tieBreak: [1]), facts: facts(period), message: [1])
    ]
    knowledge.renewals = [
      RenewalStatement(
        key: SubscriptionKey(app: app, environment: .production, originalTransactionID: "1"), source: .signedV2,
        rank: Rank(asOf: Timestamp(renewalSaidAt * hour), tieBreak: [1]), facts: facts(renewal), message: [1])
    ]
    knowledge.histories["1"] = historyAskedAt.map { Timestamp($0 * hour) }
    return ResolvedCustomer(knowledge)
  }

  private static func facts<Field: FactField>(_ values: [Field: JSONValue]) -> Facts<Field> {
    var facts = Facts<Field>()
    for (field, value) in values { facts.set(field, value) }
    return facts
  }

  private static func silent(_ customer: ResolvedCustomer) -> [String] { customer.silent(at: Timestamp(30 * hour)) }

  /// The charge for the period went through at hour 20, and the next one was to follow at once.
  @Test func `is one whose last period was renewed when it was over, and is to renew`() {
    let renewed = Self.customer(periodSaidAt: 20, renewalSaidAt: 20, [.autoRenewStatus: 1])
    #expect(Self.silent(renewed) == ["1"])
    let asked = Self.customer(periodSaidAt: 20, renewalSaidAt: 20, [.autoRenewStatus: 1], historyAskedAt: 19)
    #expect(Self.silent(asked) == ["1"], "Apple was asked before that")
  }

  @Test(
    arguments: [
      [.autoRenewStatus: 0], [.autoRenewStatus: 1, .isInBillingRetryPeriod: true],
      [.autoRenewStatus: 1, .expirationIntent: 2],
    ] as [[RenewalField: JSONValue]])
  func `is none of whom Apple said why it ended`(renewal: [RenewalField: JSONValue]) {
    #expect(Self.silent(Self.customer(periodSaidAt: 20, renewalSaidAt: 20, renewal)) == [])
  }

  @Test func `is none of whom Apple knew no more when it was asked`() {
    let asked = Self.customer(periodSaidAt: 20, renewalSaidAt: 20, [.autoRenewStatus: 1], historyAskedAt: 20)
    #expect(Self.silent(asked) == [])
  }
}

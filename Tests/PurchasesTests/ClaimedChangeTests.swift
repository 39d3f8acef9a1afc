private let second: Int64 = 1_000
private let minute = 60 * second

private func period(
  _ source: Source, at asOf: Int64, line: String = "10", until end: Int64 = 9_000 * 1_000, revoked: Int64? = nil
) -> PurchaseStatement {
  var values: [PurchaseField: JSONValue] = [
    .type: "Auto-Renewable Subscription", .purchaseDate: .integer(1_000 * second), .expiresDate: .integer(end),
  ]
  values[.revocationDate] = revoked.map(JSONValue.integer)
  return said(source, at: asOf, line: line, values)
}

@Suite struct `A claimed change` {
  private struct OfPurchase: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var claim: PurchaseStatement
    var known: [PurchaseStatement]
    var expected: UnconfirmedChange
  }

  @Test(arguments: [
    OfPurchase(
      testDescription: "a period that nobody knows", claim: period(.notificationV1, at: 5 * minute), known: [],
      expected: .period),
    OfPurchase(
      testDescription: "a period that Apple signed", claim: period(.notificationV1, at: 5 * minute),
      known: [period(.signedV2, at: minute)], expected: []),
    OfPurchase(
      testDescription: "a period of a verified receipt", claim: period(.notificationV1, at: 5 * minute),
      known: [period(.verifiedReceipt, at: minute)], expected: []),
    OfPurchase(
      testDescription: "a period of a receipt that nobody verified", claim: period(.notificationV1, at: 5 * minute),
      known: [period(.unverifiedReceipt, at: minute)], expected: .period),
    OfPurchase(
      testDescription: "what V1 said before", claim: period(.notificationV1, at: 5 * minute),
      known: [period(.notificationV1, at: minute)], expected: []),
    OfPurchase(
      testDescription: "the end to the second", claim: period(.notificationV1, at: 5 * minute, until: 9_000 * second),
      known: [period(.signedV2, at: minute, until: 9_000 * second + 999)], expected: []),
    OfPurchase(
      testDescription: "another end", claim: period(.notificationV1, at: 5 * minute, until: 9_500 * second),
      known: [period(.signedV2, at: minute)], expected: .period),
    OfPurchase(
      testDescription: "another end again", claim: period(.notificationV1, at: 6 * minute, until: 9_500 * second),
      known: [period(.signedV2, at: minute), period(.notificationV1, at: 5 * minute, until: 9_500 * second)],
      expected: []),
    OfPurchase(
      testDescription: "a refund", claim: period(.notificationV1, at: 5 * minute, revoked: 5 * minute),
      known: [period(.signedV2, at: minute)], expected: .refund),
    OfPurchase(
      testDescription: "a refund that Apple signed",
      claim: period(.notificationV1, at: 5 * minute, revoked: 5 * minute),
      known: [period(.signedV2, at: 5 * minute, revoked: 5 * minute + 300)], expected: []),
    OfPurchase(
      testDescription: "a refund that V1 told before",
      claim: period(.notificationV1, at: 7 * minute, revoked: 5 * minute),
      known: [period(.signedV2, at: minute), period(.notificationV1, at: 5 * minute, revoked: 5 * minute)],
      expected: []),
    OfPurchase(
      testDescription: "another refund than V1 told before, which may have been made up",
      claim: period(.notificationV1, at: 8 * minute, revoked: 7 * minute),
      known: [period(.signedV2, at: minute), period(.notificationV1, at: 5 * minute, revoked: 5 * minute)],
      expected: .refund),
    OfPurchase(
      testDescription: "a refund that V1 told before to the second",
      claim: period(.verifyReceiptAnswer, at: 7 * minute, revoked: 5 * minute),
      known: [period(.signedV2, at: minute), period(.notificationV1, at: 5 * minute, revoked: 5 * minute + 999)],
      expected: []),
    OfPurchase(
      testDescription: "another date of a refund that Apple signed",
      claim: period(.notificationV1, at: 9 * minute, revoked: 8 * minute),
      known: [period(.signedV2, at: 6 * minute, revoked: 5 * minute)], expected: []),
    OfPurchase(
      testDescription: "an old refund of which signed data was silent later: it was reversed",
      claim: period(.notificationV1, at: 5 * minute, revoked: 5 * minute), known: [period(.signedV2, at: 6 * minute)],
      expected: []),
    OfPurchase(
      testDescription: "a refund that Apple may not have signed yet",
      claim: period(.notificationV1, at: 5 * minute, revoked: 5 * minute),
      known: [period(.signedV2, at: 5 * minute + 10 * second)], expected: .refund),
    OfPurchase(
      testDescription: "a refund and a period that nobody knows",
      claim: period(.notificationV1, at: 5 * minute, revoked: 5 * minute), known: [], expected: [.period, .refund]),
    OfPurchase(
      testDescription: "V1's silence about a refund", claim: period(.notificationV1, at: 7 * minute),
      known: [period(.signedV2, at: 5 * minute, revoked: 5 * minute)], expected: []),
    OfPurchase(
      testDescription: "an answer of verifyReceipt without the refund",
      claim: period(.verifyReceiptAnswer, at: 7 * minute),
      known: [period(.signedV2, at: 5 * minute, revoked: 5 * minute)], expected: .refund),
    OfPurchase(
      testDescription: "an older answer without the refund", claim: period(.verifyReceiptAnswer, at: 4 * minute),
      known: [period(.signedV2, at: 5 * minute, revoked: 5 * minute)], expected: []),
    OfPurchase(
      testDescription: "a second answer without the refund", claim: period(.verifyReceiptAnswer, at: 8 * minute),
      known: [
        period(.signedV2, at: 5 * minute, revoked: 5 * minute), period(.verifyReceiptAnswer, at: 7 * minute),
      ], expected: []),
    OfPurchase(
      testDescription: "signed data itself", claim: period(.signedV2, at: 5 * minute), known: [], expected: []),
    OfPurchase(
      testDescription: "a receipt that nobody verified", claim: period(.unverifiedReceipt, at: 5 * minute), known: [],
      expected: []),
  ])
  private func `is what no signed statement says of a purchase`(_ example: OfPurchase) {
    #expect(example.claim.claimedChange(beyond: example.known) == example.expected)
  }

  private struct OfRenewal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var claim: RenewalStatement
    var known: [RenewalStatement]
    var isChange: Bool
  }

  @Test(arguments: [
    OfRenewal(
      testDescription: "the first word", claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 1]),
      known: [], isChange: true),
    OfRenewal(
      testDescription: "what Apple signed", claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 1]),
      known: [saidOfRenewal(at: 2_000, [.autoRenewStatus: 1])], isChange: false),
    OfRenewal(
      testDescription: "other than Apple signed",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 0]),
      known: [saidOfRenewal(at: 2_000, [.autoRenewStatus: 1])], isChange: true),
    OfRenewal(
      testDescription: "other than Apple signed later",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 0]),
      known: [saidOfRenewal(at: 6_000, [.autoRenewStatus: 1])], isChange: false),
    OfRenewal(
      testDescription: "other than Apple signed in the same second",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 0]),
      known: [saidOfRenewal(at: 5_700, [.autoRenewStatus: 1])], isChange: true),
    OfRenewal(
      testDescription: "what V1 said since", claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 0]),
      known: [
        saidOfRenewal(at: 2_000, [.autoRenewStatus: 1]),
        saidOfRenewal(.notificationV1, at: 4_000, [.autoRenewStatus: 0]),
      ], isChange: false),
    OfRenewal(
      testDescription: "what V1 said before Apple signed something else",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.autoRenewStatus: 0]),
      known: [
        saidOfRenewal(at: 3_000, [.autoRenewStatus: 1]),
        saidOfRenewal(.notificationV1, at: 2_000, [.autoRenewStatus: 0]),
      ], isChange: true),
    OfRenewal(
      testDescription: "older than V1's last word",
      claim: saidOfRenewal(.notificationV1, at: 3_000, [.autoRenewStatus: 0]),
      known: [
        saidOfRenewal(at: 2_000, [.autoRenewStatus: 1]),
        saidOfRenewal(.notificationV1, at: 4_000, [.autoRenewStatus: 1]),
      ], isChange: false),
    OfRenewal(
      testDescription: "no billing retry, where Apple says nothing of one",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.isInBillingRetryPeriod: false]),
      known: [saidOfRenewal(at: 2_000, [.autoRenewStatus: 1])], isChange: false),
    OfRenewal(
      testDescription: "a billing retry",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.isInBillingRetryPeriod: true]),
      known: [saidOfRenewal(at: 2_000, [.autoRenewStatus: 1])], isChange: true),
    OfRenewal(
      testDescription: "a price, which changes no access",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.priceIncreaseStatus: 0]),
      known: [saidOfRenewal(at: 2_000, [.autoRenewStatus: 1])], isChange: false),
    OfRenewal(
      testDescription: "the grace period's end to the second",
      claim: saidOfRenewal(.notificationV1, at: 5_000, [.gracePeriodExpiresDate: 9_000]),
      known: [saidOfRenewal(at: 2_000, [.gracePeriodExpiresDate: 9_400])], isChange: false),
  ])
  private func `is what no signed statement says of a renewal`(_ example: OfRenewal) {
    #expect(example.claim.claimedChange(beyond: example.known) == (example.isChange ? .renewal : []))
  }

  @Test func `is looked for in the last period and in what was revoked, however many periods a body lists`() {
    var findings = Findings(app: app, environment: .production)
    findings.purchases = (1...60 as ClosedRange<Int64>).map { index -> PurchaseStatement in
      let values: [PurchaseField: JSONValue] = [
        .type: "Auto-Renewable Subscription", .purchaseDate: .integer(index * 100),
        .expiresDate: .integer(index * 100 + 100),
      ]
      return said(.notificationV1, at: 7_000, line: "\(index)", values)
    }
    #expect(findings.purchasesToConfirm.map(\.key.line.text) == ["60"])
    // A year that a month replaced ends last, and the month was bought last.
    findings.purchases.append(
      said(
        .notificationV1, at: 7_000, line: "year",
        [.type: "Auto-Renewable Subscription", .purchaseDate: 50, .expiresDate: 99_999]))
    findings.purchases[10].facts.set(.revocationDate, 5_000)
    findings.purchases.append(said(.notificationV1, at: 7_000, line: "", original: "2", [.type: "Non-Consumable"]))
    #expect(Set(findings.purchasesToConfirm.map(\.key.line.text)) == ["60", "year", "11", ""])
  }

  @Test func `is of an id that nothing signed in the same message names`() {
    var findings = Findings(app: app, environment: .production)
    findings.purchases = [
      period(.notificationV1, at: 1), period(.verifiedReceipt, at: 1),
      said(.notificationV1, at: 1, original: "2", [:]), said(.verifyReceiptAnswer, at: 1, original: "3", [:]),
    ]
    #expect(findings.claimedOriginals == ["2"])
  }

  @Test func `has names in a fixed order`() {
    #expect((UnconfirmedChange.refund.union(.period)).names == ["period", "refund"])
    #expect(UnconfirmedChange([.period, .renewal, .refund]).rawValue == 7)
  }
}

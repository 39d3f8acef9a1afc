@Suite struct `What a message taught` {
  @Test func `names every id by which it may be asked for, in lower case for accounts`() {
    var findings = Findings(app: app, environment: .production)
    findings.purchases = [
      said(
        at: 7, line: "10",
        [
          .transactionId: "70", .webOrderLineItemId: "10", .appTransactionId: "99",
          .appAccountToken: "7E3FB20B-4CDB-47CC-936D-99D65F608138",
        ]),
      said(at: 7, line: "", original: "2", [.transactionId: "0", .webOrderLineItemId: ""]),
    ]
    findings.renewals = [saidOfRenewal(at: 8, [.appTransactionId: "98"])]
    let aliases = findings.aliases.map { "\($0.kind.name) \($0.id) \($0.originalTransactionID) \($0.line.text)" }
    #expect(
      aliases == [
        "transactionID 70 1 10", "webOrderLineItemID 10 1 10", "appTransactionID 99 1 ",
        "appAccountToken 7e3fb20b-4cdb-47cc-936d-99d65f608138 1 ", "appTransactionID 98 1 ",
      ])
    #expect(findings.originalTransactionIDs == ["1", "2"])
  }

  /// An id that a stranger made up must not lead to somebody's purchases.
  @Test(arguments: Source.allCases)
  func `names an id as a claim where nothing is signed`(source: Source) {
    var findings = Findings(app: app, environment: .production)
    findings.purchases = [
      said(
        source, at: 7,
        [.transactionId: "70", .webOrderLineItemId: "10", .appTransactionId: "99", .appAccountToken: "a"])
    ]
    findings.renewals = [saidOfRenewal(source, at: 8, [.appTransactionId: "98", .appAccountToken: "b"])]
    #expect(findings.aliases.map(\.isClaimed) == Array(repeating: !source.isSigned, count: 6))
    findings.isFetched = true
    #expect(findings.aliases.map(\.isClaimed) == Array(repeating: false, count: 6))
  }

  @Test func `has sources in order of authority, of which one speaks by absence`() {
    #expect(
      Source.allCases.sorted().map(\.name) == [
        "unverifiedReceipt", "verifiedReceipt", "notificationV1", "verifyReceiptAnswer", "signedV2",
      ])
    #expect(Source.allCases.filter(\.speaksByAbsence) == [.signedV2])
  }
}

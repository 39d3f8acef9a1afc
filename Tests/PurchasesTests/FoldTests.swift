@Suite struct `The fold` {
  private func folded(_ statements: PurchaseStatement...) -> [Purchase] {
    Purchase.fold(statements, rules: purchaseRules)
  }

  @Test func `gives the same purchases for any order, repetition and part that was kept before`() {
    var random = SeededRandom()
    for _ in 0..<300 {
      let statements = (0..<Int.random(in: 1...12, using: &random)).map { _ in anything(using: &random) }
      let expected = Purchase.fold(statements, rules: purchaseRules)
      #expect(
        Purchase.fold(statements.shuffled(using: &random), rules: purchaseRules) == expected, "seed \(random.seed)")

      let repeated = statements + statements.filter { _ in .random(using: &random) }
      #expect(Purchase.fold(repeated.shuffled(using: &random), rules: purchaseRules) == expected, "seed \(random.seed)")

      // Two ledgers that saw different parts, each keeping the latest only, and then exchanged what they have.
      let seenHere = statements.filter { _ in .random(using: &random) }
      let seenThere = statements.filter { !seenHere.contains($0) || .random(using: &random) }
      let merged = PurchaseStatement.latest(of: seenThere) + PurchaseStatement.latest(of: seenHere)
      #expect(Purchase.fold(merged, rules: purchaseRules) == expected, "seed \(random.seed)")
    }
  }

  @Test func `chooses what the testimonies say counts, and nothing where none does`() {
    var random = SeededRandom()
    var verdicts: Set<Outcome> = []
    for _ in 0..<200 {
      let statements = (0..<8).map { _ in anything(using: &random) }
      for purchase in Purchase.fold(statements, rules: purchaseRules) {
        // What is said of it; an upgrade is supposed from what is said of others.
        guard let resolved = Resolved(purchase.statements, rules: purchaseRules) else { continue }
        for field in PurchaseField.allCases {
          let words = FieldStatement.all(
            about: field, in: purchase.statements.shuffled(using: &random), rules: purchaseRules)
          verdicts.formUnion(words.map(\.verdict))
          let counting = words.filter { $0.verdict == .counts }
          let origin = resolved.origins[field]
          #expect(counting.map(\.value) == [resolved.facts[field]].compactMap(\.self), "seed \(random.seed)")
          #expect(counting.map(\.source) == [origin?.source].compactMap(\.self), "seed \(random.seed)")
          #expect(counting.map(\.isInferred) == [origin?.isInferred].compactMap(\.self), "seed \(random.seed)")
        }
      }
    }
    #expect(verdicts == Set(Outcome.allCases))
  }

  /// Few ids, dates and values, so that everything collides with everything.
  private func anything(using random: inout SeededRandom) -> PurchaseStatement {
    func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
    var values: [PurchaseField: JSONValue] = [:]
    let candidates: [(PurchaseField, [JSONValue])] = [
      (.transactionId, ["1", "2", "3", "0"]), (.purchaseDate, [1_000, 1_999, 2_000]), (.expiresDate, [5_000, 6_000]),
      (.productId, ["a", "b"]), (.revocationDate, [3_000, 3_001]), (.isUpgraded, [true, false]),
      (.type, ["Auto-Renewable Subscription", "Consumable"]), (.inAppOwnershipType, ["PURCHASED"]),
    ]
    for (field, choices) in candidates where Bool.random(using: &random) { values[field] = pick(choices) }
    var statement = said(
      pick(Source.allCases), at: pick([10, 20, 30]), line: pick(["", "p1000", "p1999", "p2000", "10", "11"]),
      original: pick(["1", "1", "2"]), environment: pick([.production, .production, .sandbox]), message: pick([1, 2]),
      values)
    for (field, choices) in candidates where Bool.random(using: &random) { statement.facts.infer(field, pick(choices)) }
    return statement
  }

  @Test func `takes each field from the highest authority that states it, and says from where`() throws {
    let purchase = try #require(
      folded(
        said(.notificationV1, at: 90, message: 3, [.productId: "from V1", .quantity: 3]),
        said(.signedV2, at: 10, message: 5, [.productId: "from V2"]),
        said(.verifyReceiptAnswer, at: 50, message: 4, [.productId: "from an answer", .quantity: 4, .price: 4])
      ).first)
    #expect(purchase.productID == "from V2")
    #expect(purchase.facts.integer(.quantity) == 4)
    #expect(purchase.facts.integer(.price) == 4)
    #expect(purchase.resolved.asOf == Timestamp(90))
    let origin = try #require(purchase.resolved.origins[.quantity])
    #expect(origin.source == .verifyReceiptAnswer)
    #expect(origin.asOf == Timestamp(50))
    #expect(origin.message == [4])
    #expect(origin.rule == "X-\(PurchaseField.quantity.rawValue)")
    #expect(purchase.resolved.origins.count == 3)
  }

  @Test(
    arguments: [
      ("a later signed payload clears it", [(.signedV2, 10, 5), (.signedV2, 20, nil)], nil),
      ("an earlier one does not", [(.signedV2, 20, 5), (.signedV2, 10, nil)], 5),
      ("a refund after a reversal counts", [(.signedV2, 10, 5), (.signedV2, 20, nil), (.signedV2, 30, 7)], 7),
      ("V1 before signed silence is ignored", [(.notificationV1, 10, 5), (.signedV2, 20, nil)], nil),
      ("V1 at the moment of signed silence is ignored", [(.notificationV1, 20, 5), (.signedV2, 20, nil)], nil),
      ("V1 after signed silence counts", [(.notificationV1, 21, 5), (.signedV2, 20, nil)], 5),
      ("V1 silence says nothing", [(.verifyReceiptAnswer, 90, nil), (.signedV2, 20, 5)], 5),
      ("V1 silence says nothing to V1", [(.verifyReceiptAnswer, 90, nil), (.notificationV1, 20, 5)], 5),
      ("a signed date wins over a later V1 one", [(.verifyReceiptAnswer, 90, 6), (.signedV2, 20, 5)], 5),
      (
        "an answer after signed silence, a notification before it",
        [(.notificationV1, 10, 5), (.verifyReceiptAnswer, 30, 6), (.signedV2, 20, nil)], 6
      ),
      ("unverified receipts have no vote", [(.unverifiedReceipt, 90, 5)], nil),
      ("verified ones have", [(.verifiedReceipt, 90, 5)], 5),
    ] as [(String, [(Source, Int64, Int64?)], Int64?)])
  func `decides about a revocation`(why: String, told: [(Source, Int64, Int64?)], revoked: Int64?) {
    let statements = told.map { source, asOf, date in
      said(source, at: asOf, date.map { [.revocationDate: .integer($0)] } ?? [:])
    }
    #expect(Purchase.fold(statements, rules: purchaseRules).map(\.revocationDate) == [revoked.map(Timestamp.init)])
  }

  @Test(
    arguments: [
      ("a stated value of the lowest authority", [(.signedV2, 20, 1, true), (.unverifiedReceipt, 10, 2, false)], 2),
      ("of inferred ones the highest authority", [(.notificationV1, 20, 1, true), (.signedV2, 10, 2, true)], 2),
      ("of inferred ones of one source the latest", [(.signedV2, 20, 1, true), (.signedV2, 10, 2, true)], 1),
      ("what is inferred when nobody states it", [(.verifiedReceipt, 10, 1, true)], 1),
    ] as [(String, [(Source, Int64, Int64, Bool)], Int64)])
  func `prefers what anybody stated to what is inferred`(
    why: String, told: [(Source, Int64, Int64, Bool)], quantity: Int64
  ) throws {
    let statements = told.map { source, asOf, value, isInferred in
      var statement = said(source, at: asOf, [:])
      if isInferred {
        statement.facts.infer(.quantity, .integer(value))
      } else {
        statement.facts.set(.quantity, .integer(value))
      }
      return statement
    }
    let purchase = try #require(Purchase.fold(statements, rules: purchaseRules).first)
    #expect(purchase.facts.integer(.quantity) == quantity)
    let isInferred = told.allSatisfy(\.3)
    #expect(purchase.facts.isInferred(.quantity) == isInferred)
    #expect(purchase.resolved.origins[.quantity]?.isInferred == isInferred)
  }

  @Test func `lets signed silence clear an inferred value that is not later`() {
    var inferred = said(.notificationV1, at: 20, [:])
    inferred.facts.infer(.isUpgraded, true)
    #expect(folded(inferred, said(.signedV2, at: 20, [:])).map(\.isUpgraded) == [false])
    #expect(folded(inferred, said(.signedV2, at: 19, [:])).map(\.isUpgraded) == [true])
    var own = said(.signedV2, at: 20, [:])
    own.facts.infer(.isUpgraded, true)
    #expect(folded(own, said(.notificationV1, at: 10, [.isUpgraded: false])).map(\.isUpgraded) == [true])
  }

  @Test func `never asks unverified receipts about revocation, expiry or ownership`() throws {
    let purchase = try #require(
      folded(
        said(
          .unverifiedReceipt, at: 90,
          [
            .revocationDate: 1, .revocationReason: 1, .expiresDate: 2, .inAppOwnershipType: "PURCHASED",
            .productId: "premium",
          ])
      ).first)
    #expect(purchase.facts == factsOf([.productId: "premium"]))
  }

  @Test func `makes nothing of nothing`() {
    #expect(Purchase.fold([], rules: purchaseRules).isEmpty)
    #expect(Resolved([PurchaseStatement](), rules: purchaseRules) == nil)
    #expect(FoldRules<PurchaseField>([:]) == nil)
  }

  @Test func `orders purchases by date, undated ones last`() {
    let purchases = folded(
      said(at: 1, line: "30", [:]), said(at: 1, line: "20", [.purchaseDate: 9_000]),
      said(at: 1, line: "10", [.purchaseDate: 9_000]), said(at: 1, line: "40", [.purchaseDate: 5_000]))
    #expect(purchases.map(\.key.line.text) == ["40", "10", "20", "30"])
  }
}

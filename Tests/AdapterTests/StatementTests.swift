@Suite struct `A statement` {
  private func purchase(_ transaction: JSONObject, _ type: String = "DID_RENEW") throws -> PurchaseStatement {
    try #require(Bench.read(Bench.payload(type, nil, "data", Bench.data(transaction))).findings.purchases.first)
  }

  @Test func `of one payload in two messages has one rank but for the last bytes`() throws {
    let data = try Bench.data()
    let a = try #require(Bench.read(Bench.payload("DID_RENEW", nil, "data", data)).findings.purchases.first)
    let b = try #require(Bench.read(Bench.payload("SUBSCRIBED", nil, "data", data)).findings.purchases.first)
    #expect(a.rank.asOf == Bench.signed && b.rank.asOf == Bench.signed)
    #expect(a.rank.tieBreak.count == 16 && b.rank.tieBreak.count == 16)
    #expect(a.rank.tieBreak.prefix(8) == b.rank.tieBreak.prefix(8))
    #expect(a.rank.tieBreak.suffix(8) != b.rank.tieBreak.suffix(8))
    #expect(Array(a.rank.tieBreak.suffix(8)) == Array(a.message.prefix(8)))
  }

  @Test func `that says something else in the same millisecond differs in its first bytes`() throws {
    let a = try purchase(Bench.transaction)
    let b = try purchase(Bench.with(Bench.transaction, "quantity", 2))
    #expect(a.rank.tieBreak.prefix(8) != b.rank.tieBreak.prefix(8))
    // What is no fact makes no difference to it.
    let c = try purchase(Bench.with(Bench.transaction, "unheardOf", 2))
    #expect(a.rank.tieBreak.prefix(8) == c.rank.tieBreak.prefix(8))
  }

  /// Apple signs by the second: an answer and a refund may have one date.
  @Test(arguments: 0..<8)
  func `that says that it was revoked is later than one of the same millisecond that does not`(quantity: Int) throws {
    let sold = Bench.with(Bench.transaction, "quantity", .integer(Int64(quantity)))
    let kept = try purchase(sold)
    let refunded = Bench.signed - .days(1)
    let revoked = try purchase(Bench.with(sold, "revocationDate", .integer(refunded.sinceEpoch)), "REFUND")
    #expect(kept.rank.asOf == revoked.rank.asOf)
    #expect(kept.rank < revoked.rank)
  }

  @Test func `is as old as its own signature, never its message's`() throws {
    let earlier = Bench.signed - .days(3)
    let statement = try purchase(Bench.with(Bench.transaction, "signedDate", .integer(earlier.sinceEpoch)))
    #expect(statement.rank.asOf == earlier)
  }

  /// Apple's answers lag: what it signs in the minute after a refund may not know of it.
  @Test(arguments: [(-30, true), (30, true), (59, true), (61, false), (3_600, false)] as [(Int64, Bool)])
  func `of a refund is not taken back by one that was signed within a minute of it`(
    seconds: Int64, isRefunded: Bool
  ) throws {
    let refunded = Bench.signed - .seconds(2)
    let refund = try purchase(
      Bench.with(Bench.transaction, "revocationDate", .integer(refunded.sinceEpoch)), "REFUND")
    let signed = refunded + .seconds(seconds)
    let other = try purchase(Bench.with(Bench.transaction, "signedDate", .integer(signed.sinceEpoch)))
    for statements in [[refund, other], [other, refund]] {
      let purchases = Purchase.fold(statements, rules: Vocabulary.embedded.purchases.rules)
      #expect(purchases.map { $0.revocationDate != nil } == [isRefunded])
    }
  }

  @Test(arguments: [
    ("1000001" as JSONValue?, "Auto-Renewable Subscription", "1000001"),
    (nil, "Auto-Renewable Subscription", "p"), ("0", "Auto-Renewable Subscription", "p"),
    ("", "Auto-Renewable Subscription", "p"), (7, "Auto-Renewable Subscription", "p"),
    (nil, "Consumable", ""), ("0", "Non-Consumable", ""),
  ])
  func `is of a line that Apple named or that the period's date tells`(
    id: JSONValue?, type: String, expected: String
  ) throws {
    var transaction = Bench.with(Bench.transaction, "webOrderLineItemId", id)
    transaction["type"] = .string(type)
    if type != "Auto-Renewable Subscription" {
      transaction["expiresDate"] = nil
      transaction["subscriptionGroupIdentifier"] = nil
    }
    let date = (Bench.signed - .days(1)).sinceEpoch
    let reading = try Bench.read(Bench.payload(Bench.data(transaction)))
    let key = try #require(reading.findings.purchases.first?.key)
    #expect(key.line.text == (expected == "p" ? "p\(date)" : expected))
    #expect(
      key
        == PurchaseKey(
          app: Bench.app, environment: .sandbox, originalTransactionID: Bench.original, line: key.line))
    #expect(reading.findings.events.first?.line == key.line)
  }

  @Test func `keeps facts of the documented kind and tells of the others`() throws {
    var transaction = Bench.with(Bench.transaction, "quantity", "three")
    transaction["unheardOf"] = true
    transaction["price"] = try JSONReader.read(Array(#"{"n":1e3}"#.utf8)).object?["n"]
    let reading = try Bench.read(Bench.payload(Bench.data(transaction)))
    let facts = try #require(reading.findings.purchases.first?.facts)
    #expect(facts[.quantity] == nil && facts.integer(.price) == 1000)
    #expect(reading.survey.unusableFields == ["quantity"])
    #expect(reading.survey.unknownFields == ["unheardOf"])
  }

  @Test func `has no alias for the ids that Xcode leaves out`() throws {
    var transaction = Bench.transaction
    for key in ["transactionId", "webOrderLineItemId", "appTransactionId"] { transaction[key] = "0" }
    let findings = try Bench.read(Bench.payload(Bench.data(transaction))).findings
    #expect(findings.aliases.isEmpty && findings.links.isEmpty)
  }
}

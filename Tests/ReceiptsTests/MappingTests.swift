@Suite struct `What a receipt states` {
  private let message = Digest.sha256([1])

  private func verified(_ text: [UInt8]) throws -> VerifiedReceipt {
    guard case .verified(let receipt) = Bench.reader.read(text) else { throw Bench.refusal(.badSignature) }
    return receipt
  }

  @Test func `is in V2's words, as of its own date`() throws {
    let receipt = try verified(Bench.receipt.encoded(signedBy: Bench.pki))
    let findings = try #require(ReceiptMapping().findings(of: receipt, message: message))
    #expect(findings.app == Bench.app.bundleID)
    #expect(findings.environment == .sandbox)
    #expect(findings.purchases.count == Bench.transactions.count)
    for sold in Bench.transactions {
      let statement = try #require(findings.purchases.first { $0.facts.text(.transactionId) == sold.transactionID })
      #expect(statement.source == .verifiedReceipt)
      #expect(statement.rank.asOf == Bench.now)
      #expect(statement.message == message.bytes)
      #expect(statement.key.originalTransactionID == sold.originalTransactionID)
      #expect(statement.key.line.text == sold.webOrderLineItemID ?? "")
      let facts = statement.facts
      #expect(facts.text(.productId) == sold.product.id)
      #expect(facts.text(.type) == sold.product.kind.rawValue)
      #expect(facts.date(.purchaseDate) == sold.purchaseDate)
      #expect(facts.date(.originalPurchaseDate) == sold.originalPurchaseDate)
      #expect(facts.date(.expiresDate) == sold.expiresDate)
      #expect(facts.date(.revocationDate) == sold.revocation?.date)
      #expect(facts.integer(.quantity) == 1)
      #expect(facts.integer(.offerType) == (sold.offer == nil ? nil : 1))
      #expect(facts.text(.offerDiscountType) == (sold.offer == nil ? nil : "FREE_TRIAL"))
    }
    #expect(findings.links.count == 4)
  }

  @Test func `by nobody is a stranger's word, never later than its arrival, and joins no customers`() throws {
    let receipt = try #require(Bench.reader.read(try Bench.receipt.encoded(signedBy: Bench.stranger)).receipt)
    let arrival = Bench.now - .days(1)
    let findings = try #require(
      ReceiptMapping().unverifiedFindings(of: receipt, receivedAt: arrival, message: message))
    #expect(Set(findings.purchases.map(\.source)) == [.unverifiedReceipt])
    #expect(Set(findings.purchases.map(\.rank.asOf)) == [arrival])
    #expect(findings.links == [])
  }

  @Test func `of iOS 6 needs somebody to say of which environment it is`() throws {
    let text = try SimulatedTransactionReceipt(Bench.transactions[1]).encoded(signedBy: Bench.pki.transactionSigner)
    let receipt = try verified(text)
    #expect(ReceiptMapping().findings(of: receipt, message: message) == nil)
    let findings = try #require(
      ReceiptMapping().findings(of: receipt, environment: .production, message: message))
    let statement = try #require(findings.purchases.first)
    #expect(statement.key.environment == .production)
    #expect(statement.key.originalTransactionID == Bench.transactions[0].transactionID)
    #expect(statement.key.line.text == Bench.transactions[1].webOrderLineItemID)
    #expect(statement.facts.date(.expiresDate) == Bench.transactions[1].expiresDate)
    #expect(statement.rank.asOf == Bench.transactions[1].purchaseDate)
  }

  @Test func `has a row for every value that has a meaning in V2, and every row a value`() throws {
    let rows = Vocabulary.embedded.receipts.rows
    let attributes = Set(rows.compactMap(\.attribute))
    #expect(attributes == [1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719, 1720, 1721])
    #expect(Set(rows.map(\.form)) == Set(ReceiptTable.Form.allCases))
  }
}

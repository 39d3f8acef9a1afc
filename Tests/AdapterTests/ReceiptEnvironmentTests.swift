/// Apple signs receipts of the sandbox and of Production alike, and those of iOS 6 do not sign which they are.
@Suite struct `A receipt that signs no environment` {
  private static let sold: SimulatedTransaction = {
    var ids = IdentifierSource(environment: .sandbox, seed: 9, life: 1)
    let app = SimulatedApp(name: "", bundleID: Bench.app, appAppleID: 1)
    let customer = Customer(name: "Eve", storefront: .unitedStates, appTransactionID: ids.appTransactionID())
    return SimulatedTransaction(
      of: Product(.nonConsumable, id: "forever", price: 990), by: customer, in: app, at: Bench.day(20), ids: &ids)
  }()

  private static let original = sold.originalTransactionID

  /// - Parameter named: what its unsigned part says; nil when somebody took the line out.
  private func receipt(named environment: String?) throws -> String {
    var receipt = SimulatedTransactionReceipt(Self.sold)
    receipt.environment = environment
    return String(decoding: try receipt.encoded(signedBy: Bench.receiptPKI.transactionSigner), as: UTF8.self)
  }

  /// An app receipt of a type that this build does not know.
  private func appReceipt() throws -> String {
    let app = SimulatedApp(name: "", bundleID: Bench.app, appAppleID: 1)
    var receipt = SimulatedReceipt(of: app, purchases: [Self.sold], createdAt: Bench.day(41))
    receipt.receiptType = "ProductionMoon"
    return String(decoding: try receipt.encoded(signedBy: Bench.receiptPKI), as: UTF8.self)
  }

  private func body(_ receipt: String) -> JSONObject {
    [
      "notification_type": "INITIAL_BUY", "bid": .string(Bench.app), "password": "secret", "environment": "PROD",
      "latest_receipt": .string(receipt),
    ]
  }

  private func answer(_ receipt: String) -> [UInt8] {
    let answer: JSONObject = [
      "status": 0, "environment": "Production", "latest_receipt": .string(receipt),
      "receipt": ["bid": .string(Bench.app), "transaction_id": "1", "original_transaction_id": "1"],
    ]
    return answer.encoded()
  }

  private func expectClaimed(_ reading: DecodedMessage, _ source: Source) {
    let told = reading.findings.purchases.filter { $0.key.originalTransactionID == Self.original }
    #expect(told.map(\.source) == [source] && reading.environment == .production)
    #expect(reading.trust != .receipt)
    #expect(reading.findings.claimedIDs.contains(Self.original) && reading.findings.links.isEmpty)
    // Apple is asked about it.
    #expect(reading.findings.seeds.contains { $0.transactionID == Self.original && $0.environment == .production })
  }

  @Test func `proves no purchase of Production because a V1 body says so, and is its claim`() throws {
    for text in [try receipt(named: nil), try appReceipt()] {
      let reading = try Bench.legacy(body(text))
      expectClaimed(reading, .notificationV1)
      #expect(reading.trust == .sharedSecret && reading.findings.claimedOriginals == [Self.original])
      #expect(reading.findings.purchasesToConfirm.map(\.key.originalTransactionID) == [Self.original])
    }
  }

  @Test func `proves none because an answer says so that somebody hands in, and gives it to no user`() throws {
    for text in [try receipt(named: nil), try appReceipt()] {
      let reading = try Bench.legacyEvidence(answer(text), userID: "mallory")
      expectClaimed(reading, .verifyReceiptAnswer)
      let users = reading.findings.userIDs.filter { $0.originalTransactionID == Self.original }
      #expect(users.map(\.isClaimed) == [true])
    }
  }

  @Test func `never becomes one of Production while its unsigned part says Sandbox`() throws {
    let text = try receipt(named: "Sandbox")
    #expect(throws: MessageError(.legacy, .missingIdentity, "")) { try Bench.legacy(body(text)) }
    let reading = try Bench.legacyEvidence(answer(text))
    #expect(!reading.findings.originalTransactionIDs.contains(Self.original))
    #expect(!reading.findings.seeds.contains { $0.transactionID == Self.original })
    let asked = try Bench.legacyEvidence(Array(text.utf8), in: .production, userID: "mallory")
    #expect(asked.objection?.code == MessageError.Code.environmentUnknown.rawValue)
    // What an earlier version stored is read all the same, as what it says it is.
    #expect(asked.environment == .sandbox && asked.findings.purchases.map(\.source) == [.unverifiedReceipt])
  }

  @Test func `is proven in the environment whose endpoint answered us`() throws {
    let body = answer(try receipt(named: nil))
    let fetched = try Bench.legacyAdapter.answer(
      body, app: Bench.app, environment: .production, message: .sha256(body), now: Bench.now)
    let told = fetched.findings.purchases.filter { $0.key.originalTransactionID == Self.original }
    #expect(fetched.trust == .apple && told.map(\.source) == [.verifiedReceipt])
    #expect(told.first?.key.environment == .production)
  }

  @Test func `is a seed when a back end hands it in, and its user waits for Apple's word`() throws {
    let text = Array(try receipt(named: nil).utf8)
    let reading = try Bench.legacyEvidence(text, in: .production, userID: "ada")
    #expect(reading.objection == nil && reading.trust == .none)
    #expect(reading.findings.purchases.map(\.source) == [.unverifiedReceipt])
    #expect(
      reading.findings.seeds == [
        TransactionReference(app: Bench.app, environment: .production, transactionID: Self.original, userID: "ada")
      ])
    #expect(reading.findings.userIDs.isEmpty)
    let waiting = reading.findings.waitingUserIDs
    #expect(waiting.map(\.transactionID) == [Self.original] && waiting.map(\.environment) == [.production])
    #expect(throws: MessageError(.authentic, .environmentUnknown, "")) { try Bench.legacyEvidence(text) }
  }

  /// What is kept is read again: else a rebuild would end at a list that a client wrote anew.
  @Test(arguments: ["\n", "\r\n", "\t", " ", "", "\n\n  "])
  func `is kept so that it can be read again, however its list is written`(space: String) throws {
    let list = try #require(Base64.standard.decode(Array(try receipt(named: nil).utf8)))
    let written = String(decoding: list, as: UTF8.self).replacing("{\n\t", with: "{" + space)
    let base64 = String(decoding: Base64.standard.encode(Array(written.utf8)), as: UTF8.self)
    for given in [written, base64] {
      let kept = try #require(ReceiptReader.base64(of: Array(given.utf8)))
      #expect(kept == base64)
      let reading = try Bench.legacyEvidence(Array(kept.utf8), in: .production, userID: "ada")
      #expect(reading.findings.seeds.map(\.transactionID) == [Self.original], "\(kept.prefix(4))")
      guard case .signature? = ReceivedBody(kept: Array(kept.utf8)).proof else {
        Issue.record("not known as a receipt: \(kept.prefix(4))")
        continue
      }
    }
  }
}

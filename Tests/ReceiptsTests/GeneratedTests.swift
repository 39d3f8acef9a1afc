@Suite struct `A generated receipt` {
  @Test(arguments: SignatureHash.allCases)
  func `of either era is verified and says what was bought`(hash: SignatureHash) throws {
    let reading = Bench.reader.read(try Bench.receipt.encoded(signedBy: Bench.pki, hash: hash))
    guard case .verified(let verified) = reading, case .app(let receipt) = verified.receipt else {
      Issue.record("\(String(describing: reading.refusal))")
      return
    }
    #expect(verified.proof.root == Bench.pki.root.certificate.fingerprint)
    #expect(verified.proof.signer == Bench.pki.leaf.certificate.fingerprint)
    #expect(verified.proof.validAt == Bench.now)
    #expect(verified.repairs.isEmpty)
    #expect(receipt.receiptType == "ProductionSandbox")
    #expect(receipt.environment == .sandbox)
    #expect(receipt.bundleID == Bench.app.bundleID)
    #expect(receipt.bundleIDBytes.suffix(Bench.app.bundleID.utf8.count) == Array(Bench.app.bundleID.utf8)[...])
    #expect(receipt.createdAt == Bench.now)
    #expect(receipt.transactionDate == nil)
    #expect(receipt.operatingSystemVersion == 180_602)
    #expect(receipt.opaqueValue.count == 16 && receipt.deviceHash.count == 20)
    #expect(receipt.unreadableAttributes == 0)
    // Attribute 20, and of each purchase 1709 and 1714 to 1718.
    #expect(receipt.unknownAttributes == 1 + 6 * Bench.transactions.count)
    let byID = Dictionary(uniqueKeysWithValues: receipt.purchases.map { ($0.transactionID, $0) })
    for sold in Bench.transactions {
      let purchase = try #require(byID[sold.transactionID])
      #expect(purchase.productID == sold.product.id)
      #expect(purchase.originalTransactionID == sold.originalTransactionID)
      #expect(purchase.purchaseDate == sold.purchaseDate)
      #expect(purchase.originalPurchaseDate == sold.originalPurchaseDate)
      #expect(purchase.expiresDate == sold.expiresDate)
      #expect(purchase.cancellationDate == sold.revocation?.date)
      #expect(purchase.webOrderLineItemID.map { String($0) } == sold.webOrderLineItemID)
      #expect(purchase.productType?.name == sold.product.kind.rawValue)
      #expect(purchase.quantity == 1)
      #expect(purchase.isTrialPeriod == (sold.offer != nil))
      #expect(purchase.ownership?.name == sold.ownership.rawValue)
      #expect(purchase.isInIntroOfferPeriod == (sold.product.kind == .autoRenewable ? false : nil))
    }
    #expect(Set(verified.receipt.originalTransactionIDs) == Set(Bench.transactions.map(\.originalTransactionID)))
    #expect(verified.receipt.originalTransactionIDs == unique(receipt.purchases.map(\.originalTransactionID)))
  }

  @Test(arguments: [(SimulatedTransaction.Ownership.purchased, "PURCHASED"), (.familyShared, "FAMILY_SHARED")])
  func `says in attribute 1722 whose a purchase is`(ownership: SimulatedTransaction.Ownership, name: String) throws {
    var receipt = Bench.receipt
    receipt.purchases = Array(receipt.purchases.prefix(1))
    receipt.purchases[0].transaction.ownership = ownership
    guard case .app(let read)? = Bench.reader.read(try receipt.encoded(signedBy: Bench.pki)).receipt else {
      Issue.record("not read")
      return
    }
    #expect(read.purchases.map(\.ownership?.name) == [name])
    #expect(ReceiptOwnership(rawValue: 2).name == nil)
  }

  @Test func `may be handed in as bytes, and with indefinite lengths`() throws {
    let definite = try Bench.message().signed(by: Bench.pki)
    #expect(Bench.reader.read(definite).refusal == nil)
    var message = Bench.message()
    message.isIndefinite = true
    let reading = Bench.reader.read(try message.signed(by: Bench.pki))
    #expect(reading.refusal == nil)
    #expect(reading.receipt == Bench.reader.read(definite).receipt)
  }

  @Test func `may have its content wrapped twice`() throws {
    let content = Bench.receipt.content
    let wrapped = Bench.message([0x04, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content)
    let reading = Bench.reader.read(try wrapped.signed(by: Bench.pki))
    #expect(reading.refusal == nil)
    #expect(reading.receipt?.originalTransactionIDs.count == 5)
  }

  @Test(arguments: [1, 3, 1_000])
  func `may have any number of purchases`(count: Int) throws {
    var receipt = Bench.receipt
    receipt.purchases = (0..<count).map { number in
      var sold = SimulatedReceipt.Purchase(Bench.transactions[4])
      sold.transactionID = String(1_000 + number)
      sold.transaction.originalTransactionID = String(1_000 + number)
      return sold
    }
    let reading = Bench.reader.read(try receipt.encoded(signedBy: Bench.pki))
    #expect(reading.refusal == nil)
    #expect(reading.receipt?.originalTransactionIDs.count == count)
  }

  @Test func `of iOS 6 is verified by a signer below the root, or by one that is pinned`() throws {
    var old = SimulatedTransactionReceipt(Bench.transactions[1])
    let reading = Bench.reader.read(try old.encoded(signedBy: Bench.pki.transactionSigner))
    #expect(reading.refusal == nil)
    #expect(reading.receipt?.originalTransactionIDs == [Bench.transactions[0].transactionID])
    #expect(reading.receipt?.signedAt == Bench.transactions[1].purchaseDate)
    guard case .transaction(let read)? = reading.receipt else {
      Issue.record("not read as a transaction")
      return
    }
    let written = String(decoding: old.purchaseInfo, as: UTF8.self)
    #expect("{\n\(read.signedPairs.map { "\t\"\($0.key)\" = \"\($0.value)\";\n" }.joined())}" == written)

    let signer = try Bench.pki.intermediate.issue(
      ReceiptPKI.Blueprint(at: Bench.now).leaf, to: .generate(.rsa1024))
    old.version = 2
    let text = try old.encoded(signedBy: signer)
    #expect(Bench.reader.read(text).refusal?.code == .unknownSigner)
    let trust = Bench.trust.adding(version2Signers: [signer.certificate.fingerprint])
    #expect(ReceiptReader(trust: trust).read(text).refusal == nil)
  }

  @Test func `of the operator's own root counts in the sandbox alone`() throws {
    let reader = ReceiptReader(trust: .apple.adding([try Bench.pki.trustedRoot()], for: .sandbox))
    #expect(reader.read(try Bench.receipt.encoded(signedBy: Bench.pki)).refusal == nil)
    var receipt = Bench.receipt
    receipt.receiptType = "Production"
    #expect(reader.read(try receipt.encoded(signedBy: Bench.pki)).refusal?.code == .unknownRoot)
    let old = SimulatedTransactionReceipt(Bench.transactions[0])
    #expect(reader.read(try old.encoded(signedBy: Bench.pki.transactionSigner)).refusal?.code == .unknownRoot)
  }

  @Test func `without purchases is verified and of no use`() throws {
    var receipt = Bench.receipt
    receipt.purchases = []
    let text = try receipt.encoded(signedBy: Bench.pki)
    #expect(Bench.reader.read(text).refusal == nil)
    #expect(Bench.reader.read(text).unusable?.code == .noPurchases)
    #expect(throws: Bench.refusal(.noPurchases)) { try Bench.reader.readUnverified(text).get() }
  }

  @Test func `keeps ids that are none out of those to ask by`() throws {
    var receipt = Bench.receipt
    for (index, ids) in [("0", "0"), ("7", ""), ("8", "0"), ("9", "5"), ("6", "5")].enumerated() {
      receipt.purchases[index].transactionID = ids.0
      receipt.purchases[index].transaction.originalTransactionID = ids.1
    }
    receipt.purchases.removeLast()
    let reading = Bench.reader.read(try receipt.encoded(signedBy: Bench.pki))
    #expect(Set(reading.receipt?.originalTransactionIDs ?? []) == ["7", "8", "5"])
    #expect(reading.receipt?.originalTransactionIDs.count == 3)
  }

  @Test func `counts what nobody knows and what cannot be read`() throws {
    var receipt = Bench.receipt
    receipt.purchases = []
    receipt.otherAttributes = [
      (4_711, [0x05, 0x00]), (21, [0x16, 0x03, 0x66, 0x6F, 0x6F]), (15, [0x0C, 0x01, 0x31]),
    ]
    guard case .app(let read)? = Bench.reader.read(try receipt.encoded(signedBy: Bench.pki)).receipt else {
      Issue.record("not read")
      return
    }
    #expect(read.unknownAttributes == 2)
    #expect(read.unreadableAttributes == 2)
    #expect(read.expirationDate == nil)
  }

  private typealias Signers = SignedReceiptMessage.Signers

  @Test func `is judged as OpenSSL judges it, whoever signed it and when`() throws {
    let root = Bench.pki.root.certificate.fingerprint
    let expired = try Bench.below { $0.leaf.notAfter = Bench.now - .days(1) }
    let unmarked = try Bench.below { $0.leaf.extensions = [] }
    for hash in SignatureHash.allCases {
      for (pki, isGood) in [(Bench.pki, true), (Bench.stranger, false), (expired, false), (unmarked, false)] {
        for (isIndefinite, signers) in [(false, Signers.one), (true, .one), (false, .withAttributes)] {
          var message = Bench.message(Bench.receipt.content, hash)
          message.isIndefinite = isIndefinite
          message.signers = signers
          let bytes = try message.signed(by: pki)
          let content = CMSVerification.content(of: bytes, trustedRoots: [root], validAt: Bench.now)
          #expect((content == Bench.receipt.content) == isGood)
          #expect((Bench.reader.read(bytes).refusal == nil) == isGood)
        }
      }
    }
  }

  private func unique(_ ids: [String?]) -> [String] {
    var seen: Set<String> = []
    return ids.compactMap { $0 }.filter { seen.insert($0).inserted }
  }
}

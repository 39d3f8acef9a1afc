/// Real receipts, read from beside the project: each gives what is known about it, exactly.
@Suite(.enabled(if: Samples.directory != nil, "the samples are not beside the package"))
struct `Real receipts` {
  private static let reader = ReceiptReader()

  /// What `expected.json` says of each file.
  static let expected: [JSONObject] = {
    guard let bytes = Samples.bytes("receipts/expected.json"), let list = try? JSONReader.read(bytes).array else {
      return []
    }
    return list.compactMap(\.object)
  }()

  static func read(_ file: String) throws -> ReceiptReadResult {
    reader.read(try #require(Samples.bytes("receipts/\(file)")))
  }

  @Test func `are all known`() throws {
    let files = Samples.paths(under: "receipts", ending: ".b64").map { String($0.dropFirst("receipts/".count)) }
    #expect(Set(Self.expected.compactMap { $0["file"]?.string }) == Set(files))
    #expect(files.count == 11)
  }

  @Test(arguments: expected.filter { $0["kind"] == "pkcs7" })
  func `of apps say what is known of them`(known: JSONObject) throws {
    let file = try #require(known["file"]?.string)
    let reading = try Self.read(file)
    guard case .app(let receipt)? = reading.receipt else {
      Issue.record("\(file) is not read as an app receipt: \(String(describing: reading.refusal))")
      return
    }
    #expect(receipt.receiptType == known["receipt_type"]?.string)
    #expect(receipt.bundleID == known["bundle_id"]?.string)
    #expect(receipt.applicationVersion == known["app_version"]?.string)
    #expect(receipt.originalApplicationVersion == known["orig_app_version"]?.string)
    #expect(receipt.createdAt == Self.createdAt[file])
    #expect(receipt.purchases.count == known["n_in_app"]?.integer.map(Int.init))
    #expect(receipt.purchases.map(\.transactionID) == Self.strings(known["transaction_ids"]))
    let originals = receipt.purchases.map { $0.originalTransactionID ?? $0.transactionID }
    #expect(Set(originals) == Set(Self.strings(known["original_transaction_ids"])))
    #expect(Set(receipt.purchases.compactMap(\.productID)) == Set(Self.strings(known["product_ids"])))
    let types = receipt.purchases.map { $0.productType.map { String($0.rawValue) } ?? "None" }
    #expect(Set(types) == Set(Self.strings(known["product_types"])))
    #expect(receipt.unreadableAttributes == 0)
  }

  @Test(arguments: expected.filter { $0["kind"] == "pkcs7" })
  func `of apps are verified when Apple signed them, and give every id`(known: JSONObject) throws {
    let file = try #require(known["file"]?.string)
    let reading = try Self.read(file)
    guard known["chain"] == "Apple Root CA" else {
      #expect(reading.refusal?.code == .xcodeReceipt)
      #expect(reading.receipt?.originalTransactionIDs == [])
      return
    }
    #expect(reading.refusal == nil)
    let ids = Self.strings(known["original_transaction_ids"])
    #expect(Set(reading.receipt?.originalTransactionIDs ?? []) == Set(ids))
    #expect(reading.receipt?.originalTransactionIDs.count == ids.count)
    #expect(reading.unusable?.code == (ids.isEmpty ? .noPurchases : nil))
  }

  @Test(arguments: expected.filter { $0["kind"] == "pkcs7" })
  func `of apps are judged as OpenSSL judges them`(known: JSONObject) throws {
    let file = try #require(known["file"]?.string)
    let base64 = try #require(Samples.bytes("receipts/\(file)"))
    let der = try #require(Base64.standard.decode(Array(base64.filter { $0 > 0x20 })))
    let root = try #require(Digest(hex: "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"))
    let content = CMSVerification.content(
      of: der, trustedRoots: [root], validAt: try #require(Self.createdAt[file]))
    #expect((content != nil) == (Self.reader.read(der).refusal == nil))
  }

  @Test(arguments: expected.filter { $0["kind"] == "pkcs7" && $0["chain"] == "Apple Root CA" })
  func `of apps say in attribute 1722 whose a purchase is, since 2021`(known: JSONObject) throws {
    let file = try #require(known["file"]?.string)
    guard case .app(let receipt)? = try Self.read(file).receipt else {
      Issue.record("\(file) is not read as an app receipt")
      return
    }
    let isRecent = try #require(receipt.createdAt) > Timestamp(1_609_459_200_000)
    for purchase in receipt.purchases { #expect(purchase.ownership?.name == (isRecent ? "PURCHASED" : nil), "\(file)") }
  }

  @Test(arguments: expected.filter { $0["kind"] == "ios6" })
  func `of transactions are verified by their pinned signers`(known: JSONObject) throws {
    let reading = try Self.read(try #require(known["file"]?.string))
    #expect(reading.refusal == nil)
    guard case .transaction(let receipt)? = reading.receipt else {
      Issue.record("not read as a transaction")
      return
    }
    #expect(receipt.bundleID == known["bundle_id"]?.string)
    #expect(receipt.transactionID.map { [$0] } == Self.strings(known["transaction_ids"]))
    #expect(reading.receipt?.originalTransactionIDs == Self.strings(known["original_transaction_ids"]))
    #expect(receipt.productID.map { [$0] } == Self.strings(known["product_ids"]))
    #expect(receipt.claimedEnvironment == .sandbox)
    #expect(reading.receipt?.environment == nil)
    #expect(receipt.unknownKeys == 0)
    #expect(receipt.signedPairs.count == (receipt.webOrderLineItemID == nil ? 13 : 19))
    #expect(receipt.signedPairs.first?.key == "original-purchase-date-pst")
    let last = receipt.webOrderLineItemID == nil ? "original-purchase-date" : "quantity"
    #expect(receipt.signedPairs.last?.key == last)
  }

  private static func strings(_ value: JSONValue?) -> [String] { (value?.array ?? []).compactMap(\.string) }

  private static let createdAt: [String: Timestamp] = [
    "tpinapp_sandbox_g5_sha256.b64": Timestamp(1_766_774_387_000),
    "tpinapp_xcode_2020.b64": Timestamp(1_595_439_195_000),
    "apple_xcode_with_transaction.b64": Timestamp(1_697_679_940_000),
    "apple_xcode_empty.b64": Timestamp(1_697_678_334_000),
    "revenuecat_sandbox_sampleapp.b64": Timestamp(1_595_439_548_000),
    "mindnode_ios_sandbox1.b64": Timestamp(1_505_122_714_000),
    "mbaasy_unified_sandbox_2015.b64": Timestamp(1_439_452_246_000),
    "purchasing_experiments_sandbox_2023.b64": Timestamp(1_677_076_215_000),
    "imdhemy_ios_receipt.b64": Timestamp(1_604_851_257_000),
  ]
}

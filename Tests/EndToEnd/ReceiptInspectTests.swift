@Suite struct `switchyard receipt inspect` {
  private static let now = Timestamp(1_767_225_600_000)
  private let place = TemporaryDirectory()
  private let program = Program()
  private let pki = ReceiptPKI.known(at: now)
  private let root: String

  init() { root = place.file("root.der", pki.root.certificate.der) }

  private var sold: SimulatedTransaction {
    var ids = IdentifierSource(environment: .sandbox, seed: 3, life: 1)
    let app = SimulatedApp(name: "A", bundleID: "com.example.app", appAppleID: 1)
    let customer = Customer(name: "Ada", storefront: .japan, appTransactionID: ids.appTransactionID())
    let product = Product.subscription("pro.monthly", group: "1", every: .months(1), price: 1_000)
    return SimulatedTransaction(
      of: product, by: customer, in: app, at: Self.now - .days(1), offer: .freeTrial(.weeks(1)), ids: &ids)
  }

  private var receipt: SimulatedReceipt {
    SimulatedReceipt(
      of: SimulatedApp(name: "A", bundleID: "com.example.app", appAppleID: 1), purchases: [sold], createdAt: Self.now)
  }

  private func inspect(_ arguments: String..., input: [UInt8] = []) async throws -> Program.Outcome {
    try await program.run(["receipt", "inspect", "--json", "--root", root] + arguments, input: input)
  }

  @Test func `prints every promised key of a verified receipt`() async throws {
    let outcome = try await inspect("-", input: receipt.encoded(signedBy: pki))
    #expect(outcome.status == 0, "\(outcome)")
    let object = try #require(try outcome.objects.first)
    #expect(try outcome.objects.count == 1)
    let expected: [(String, JSONValue)] = [
      ("file", "-"), ("kind", "app"), ("verified", true), ("reason", .null), ("bundleId", "com.example.app"),
      ("environment", "Sandbox"), ("receiptType", "ProductionSandbox"), ("createdAt", .integer(Self.now.sinceEpoch)),
      ("originalTransactionIds", [.string(sold.transactionID)]),
    ]
    for (key, value) in expected { #expect(object[key] == value, "\(key)") }
    let purchase = try #require(object["purchases"]?.array?.first?.object)
    let facts: [(String, JSONValue)] = [
      ("productId", "pro.monthly"), ("transactionId", .string(sold.transactionID)),
      ("originalTransactionId", .string(sold.transactionID)),
      ("webOrderLineItemId", .string(try #require(sold.webOrderLineItemID))), ("type", 3), ("quantity", 1),
      ("purchaseDate", .integer(sold.purchaseDate.sinceEpoch)),
      ("originalPurchaseDate", .integer(sold.purchaseDate.sinceEpoch)),
      ("expiresDate", .integer(try #require(sold.expiresDate).sinceEpoch)), ("cancellationDate", .null),
      ("isTrialPeriod", true), ("isInIntroOfferPeriod", false),
    ]
    for (key, value) in facts { #expect(purchase[key] == value, "\(key)") }
  }

  @Test func `ends with what became of all`() async throws {
    let good = place.file("good", try receipt.encoded(signedBy: pki))
    let altered = place.file(
      "altered",
      try SignedReceiptMessage(content: receipt.content, hash: .sha1)
        .signed(by: pki, with: pki.intermediate.key))
    let text = place.file("text", Array("no receipt at all".utf8))
    let cases: [([String], Int32, [JSONValue])] = [
      ([good, good], 0, [.null, .null]), ([good, altered], 3, [.null, "badSignature"]),
      ([good, text], 3, [.null, "notAReceipt"]), ([altered], 3, ["badSignature"]), ([text], 1, ["notAReceipt"]),
      ([text, "\(place.path)/absent"], 1, ["notAReceipt", "unreadableFile"]),
      (["--bundle-id", "com.example.other", good], 3, ["wrongBundle"]),
    ]
    for (arguments, status, reasons) in cases {
      let outcome = try await program.run(["receipt", "inspect", "--json", "--root", root] + arguments)
      #expect(outcome.status == status, "\(outcome)")
      #expect(try outcome.objects.map { $0["reason"] } == reasons)
    }
  }

  @Test func `tells the transaction of an iOS 6 receipt`() async throws {
    let text = try SimulatedTransactionReceipt(sold).encoded(signedBy: pki.transactionSigner)
    let object = try #require(try await inspect("-", input: text).objects.first)
    #expect(object["kind"] == "transaction")
    #expect(object["verified"] == true)
    #expect(object["environment"] == .null)
    #expect(object["unsignedEnvironment"] == "Sandbox")
    #expect(object["originalTransactionIds"] == [.string(sold.transactionID)])
  }

  @Test func `trusts a signer of version 2 that it is told of`() async throws {
    var old = SimulatedTransactionReceipt(sold)
    old.version = 2
    let signer = try pki.root.issue(ReceiptPKI.Blueprint(at: Self.now).leaf, to: .generate(.rsa1024))
    let text = try old.encoded(signedBy: signer)
    #expect(try await inspect("-", input: text).objects.first?["reason"] == "unknownSigner")
    let fingerprint = signer.certificate.fingerprint.hex
    #expect(try await inspect("--signer", fingerprint, "-", input: text).status == 0)
    #expect(try await inspect("--signer", "12", "-", input: text).status == 2)
  }

  @Test func `shows people a table`() async throws {
    let outcome = try await program.run(
      ["receipt", "inspect", "--root", root, "-"], input: receipt.encoded(signedBy: pki))
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("-: VERIFIED"))
    #expect(outcome.output.contains("pro.monthly"))
    #expect(outcome.output.contains("Auto-Renewable Subscription"))
  }
}

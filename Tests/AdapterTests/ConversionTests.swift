@Suite struct `What is converted` {
  private func convert(
    _ bytes: [UInt8], app: String? = nil, in environment: Environment? = nil, unsigned: Bool = false
  ) throws(ConversionError) -> JSONObject {
    let conversion = Conversion(
      verifier: SignedDataVerifier(roots: TrustedRoots(exactly: Bench.roots(Bench.pki))), receipts: ReceiptReader(),
      app: app, environment: environment, allowsUnsigned: unsigned)
    return CanonicalDocument(try conversion.read(bytes, now: Bench.now)).json
  }

  private func first(_ name: String, _ document: JSONObject) throws -> JSONObject {
    try #require(document[name]?.array?.first?.object)
  }

  private func refusal(
    _ bytes: [UInt8], app: String? = nil, in environment: Environment? = nil, unsigned: Bool = false
  ) -> ConversionError? {
    do throws(ConversionError) {
      _ = try convert(bytes, app: app, in: environment, unsigned: unsigned)
      return nil
    } catch { return error }
  }

  @Test func `is flat on each element, by Apple's names, with who said it and by which rows`() throws {
    let body = try Bench.body(
      Bench.payload("DID_RENEW", nil, "data", Bench.data(Bench.transaction, Bench.renewal)))
    let document = try convert(body)
    #expect(document.members.map(\.key) == ["events", "purchases", "renewals"])
    let provenance: JSONValue = [
      "source": "signedV2", "asOf": .integer(Bench.signed.sinceEpoch), "trust": "signature",
      "message": .string(Digest.sha256(body).hex), "inferred": [],
    ]
    let purchase = try first("purchases", document)
    var expected: JSONObject = ["bundleId": .string(Bench.app), "environment": "Sandbox"]
    for field in PurchaseField.allCases { expected[field.name] = Bench.transaction[field.name] }
    expected["line"] = "1000001"
    expected["provenance"] = provenance
    expected["rules"] = ["T-001", "T-002", "T-003", "T-004", "T-005", "T-006", "T-008", "T-010", "T-027"]
    #expect(purchase == expected)
    let renewal = try first("renewals", document)
    #expect(renewal["autoRenewStatus"] == 1 && renewal["bundleId"] == .string(Bench.app))
    #expect(renewal["provenance"] == provenance)
    #expect(renewal["rules"] == ["R-001", "R-003", "R-004", "R-019"])
    let event = try first("events", document)
    #expect(event["notificationType"] == "DID_RENEW" && event["rules"] == ["N-014"])
    #expect(event["date"] == Bench.transaction["purchaseDate"] && event["provenance"] == provenance)
    #expect(event["originalTransactionId"] == .string(Bench.original))
  }

  @Test func `may be wrapped or bare`() throws {
    let payload = Bench.payload("TEST", nil, "data", ["bundleId": .string(Bench.app), "environment": "Sandbox"])
    let jws = try Bench.sign(payload)
    let inputs: [[UInt8]] = [
      Array(jws.utf8), Array((jws + "\n").utf8), JSONValue.string(jws).encoded(), try Bench.body(payload),
      (["notificationHistory": [["signedPayload": .string(jws)]], "hasMore": false] as JSONObject).encoded(),
    ]
    for input in inputs {
      let event = try first("events", convert(input))
      #expect(event["notificationType"] == "TEST" && event["rules"] == ["N-034"])
    }
  }

  @Test func `may be signed data or an answer with it`() throws {
    let transaction = try Bench.sign(Bench.transaction)
    let download = try Bench.sign(Bench.download)
    let purchases: [[UInt8]] = [
      Array(transaction.utf8), (["signedTransactionInfo": .string(transaction)] as JSONObject).encoded(),
      (["signedTransactions": [.string(transaction)], "revision": "r"] as JSONObject).encoded(),
      (["status": 0, "signedTransactions": [.string(transaction)]] as JSONObject).encoded(),
    ]
    for input in purchases {
      #expect(try first("purchases", convert(input))["originalTransactionId"] == .string(Bench.original))
    }
    for input in [Array(download.utf8), (["signedAppTransactionInfo": .string(download)] as JSONObject).encoded()] {
      let element = try first("appTransactions", convert(input))
      #expect(element["appTransactionId"] == "700001" && element["rules"] == ["A-001", "A-004"])
    }
  }

  @Test func `of a renewal alone is of an unknown app, or of the one that the caller names`() throws {
    let renewal = Array(try Bench.sign(Bench.renewal).utf8)
    let nobody = try first("renewals", convert(renewal))
    #expect(nobody["bundleId"] == .null && nobody["provenance"]?.object?["unknown"] == ["bundleId"])
    let element = try first("renewals", convert(renewal, app: "com.example.told"))
    #expect(element["bundleId"] == "com.example.told")
    #expect(element["provenance"]?.object?["given"] == ["bundleId"])
  }

  @Test func `without an environment is of an unknown one, or of the one that the caller names`() throws {
    var old = Bench.transaction
    old["environment"] = nil
    let jws = Array(try Bench.sign(old).utf8)
    let nowhere = try first("purchases", convert(jws))
    #expect(nowhere["environment"] == .null && nowhere["provenance"]?.object?["unknown"] == ["environment"])
    let element = try first("purchases", convert(jws, in: .production))
    #expect(element["environment"] == "Production")
    #expect(element["provenance"]?.object?["given"] == ["environment"])
  }

  private static func bodiesOfUndecidedEnvironments() throws -> [[UInt8]] {
    let v1: JSONObject = ["notification_type": "CANCEL", "bid": .string(Bench.app), "original_transaction_id": 1]
    var (two, mars) = (v1, v1)
    two["environment"] = "PROD"
    two["unified_receipt"] = ["environment": "Sandbox"]
    mars["environment"] = "Mars"
    let answer: JSONObject = [
      "status": 0, "environment": "Mars", "receipt": ["bundle_id": .string(Bench.app), "receipt_type": "Sandbox"],
    ]
    var unnamed = Bench.transaction
    unnamed["environment"] = nil
    let history: JSONObject = ["environment": "Mars", "signedTransactions": [try Bench.signedValue(unnamed)]]
    return [two, mars, answer, history].map { $0.encoded() }
  }

  @Test func `of an environment that its names do not decide is of the one that the caller names`() throws {
    for body in try Self.bodiesOfUndecidedEnvironments() {
      let refused = try #require(refusal(body))
      #expect(refused.code == "environmentUnknown" && refused.next.contains("--environment"), "\(refused)")
      let document = try convert(body, in: .sandbox)
      for element in ["events", "purchases", "renewals"].flatMap({ document[$0]?.array ?? [] }).compactMap(\.object) {
        #expect(element["environment"] == "Sandbox")
        #expect(element["provenance"]?.object?["given"]?.array?.contains("environment") == true, "\(element)")
      }
    }
  }

  @Test func `of one environment is never taken for one of another`() throws {
    let body: JSONObject = [
      "notification_type": "CANCEL", "bid": .string(Bench.app), "environment": "PROD", "original_transaction_id": 1,
    ]
    #expect(refusal(body.encoded(), in: .sandbox)?.code == "environmentUnknown")
    #expect(refusal(body.encoded(), in: .production) == nil)
  }

  @Test func `from several sources is one element for each purchase`() throws {
    var later = Bench.transaction
    later["signedDate"] = .integer((Bench.signed + .hours(1)).sinceEpoch)
    later["revocationDate"] = .integer(Bench.signed.sinceEpoch)
    let answer: JSONObject = [
      "signedTransactions": [try Bench.signedValue(later), try Bench.signedValue(Bench.transaction)]
    ]
    let document = try convert(answer.encoded())
    #expect(document["purchases"]?.array?.count == 1)
    #expect(try first("purchases", document)["revocationDate"] == .integer(Bench.signed.sinceEpoch))
  }

  @Test func `unsigned is taken only when allowed, and says that nobody vouches for it`() throws {
    var notification = Bench.payload(
      "DID_RENEW", nil, "data", ["bundleId": .string(Bench.app), "environment": "Sandbox"])
    notification["data"] = [
      "bundleId": .string(Bench.app), "environment": "Sandbox", "signedTransactionInfo": .object(Bench.transaction),
      "signedRenewalInfo": try Bench.signedValue(Bench.renewal),
    ]
    let bytes = notification.encoded()
    #expect(refusal(bytes)?.code == "unsigned")
    let document = try convert(bytes, unsigned: true)
    for name in ["events", "purchases", "renewals"] {
      let provenance = try first(name, document)["provenance"]?.object
      #expect(provenance?["trust"] == "none" && provenance?["source"] == "unsignedV2", "\(name)")
    }
    let rules = try first("purchases", document)["rules"]
    #expect(rules == ["T-001", "T-002", "T-003", "T-004", "T-005", "T-006", "T-008", "T-010", "T-027"])
  }

  @Test func `is never what somebody forged, whatever is allowed`() throws {
    let forged = Array(try Bench.sign(Bench.transaction, by: Bench.stranger).utf8)
    #expect(refusal(forged, unsigned: true)?.code == "unknownRoot")
    var notification = Bench.payload(
      "DID_RENEW", nil, "data", ["bundleId": .string(Bench.app), "environment": "Sandbox"])
    notification["data"] = [
      "bundleId": .string(Bench.app), "environment": "Sandbox",
      "signedTransactionInfo": .string(try Bench.sign(Bench.transaction, by: Bench.stranger)),
    ]
    #expect(refusal(notification.encoded(), unsigned: true)?.code == "unknownRoot")
  }

  @Test func `of a receipt that nobody proved is the stranger's word, shown whole`() throws {
    let app = SimulatedApp(name: "A", bundleID: Bench.app, appAppleID: 1)
    var ids = IdentifierSource(environment: .sandbox, seed: 3, life: 1)
    let customer = Customer(name: "Ada", storefront: .japan, appTransactionID: ids.appTransactionID())
    let sold = SimulatedTransaction(
      of: .subscription("pro.monthly", group: "1", every: .months(1), price: 1_000), by: customer, in: app,
      at: Bench.now - .days(1), offer: .freeTrial(.weeks(1)), ids: &ids)
    let text = try SimulatedReceipt(of: app, purchases: [sold], createdAt: Bench.now - .hours(2))
      .encoded(signedBy: ReceiptPKI.stranger(at: Bench.now))
    #expect(refusal(text)?.code == "unknownRoot")
    let element = try first("purchases", convert(text, unsigned: true))
    #expect(element["originalTransactionId"] == .string(sold.transactionID))
    #expect(element["expiresDate"] == .integer(try #require(sold.expiresDate).sinceEpoch))
    let provenance = try #require(element["provenance"]?.object)
    #expect(provenance["source"] == "unverifiedReceipt" && provenance["trust"] == "none")
    #expect(provenance["asOf"] == .integer((Bench.now - .hours(2)).sinceEpoch))
    #expect(provenance["withoutVote"] == ["expiresDate"])
    let request: JSONObject = ["receipt-data": .string(String(decoding: text, as: UTF8.self))]
    #expect(try first("purchases", convert(request.encoded(), unsigned: true))["productId"] == "pro.monthly")
  }

  @Test(
    arguments: [
      ("", "emptyInput"), (" \n", "emptyInput"), ("{", "notJSON"), ("[]", "notAMessage"), ("{}", "notAMessage"),
      ("7", "notAReceipt"), ("a.b.c", "invalidBase64"), (#"{"notificationHistory":[]}"#, "notAMessage"),
      (#"{"signature"="x"}"#, "notAReceipt"), (#"{"signedTransactions":[]}"#, "notAMessage"),
      (#"{"receipt-data":""}"#, "empty"),
    ] as [(String, String)])
  func `is refused with the reason and what to do`(text: String, code: String) {
    let why = refusal(Array(text.utf8), unsigned: true)
    #expect(why?.code == code, "\(String(describing: why))")
    #expect(why?.next.isEmpty == false)
  }

  @Test func `is of the app and environment that were named`() throws {
    let jws = Array(try Bench.sign(Bench.transaction).utf8)
    #expect(refusal(jws, app: "com.example.other")?.code == "wrongBundle")
    #expect(refusal(jws, in: .production)?.code == "contradictsEnvelope")
    let payload = Bench.payload("TEST", nil, "data", ["bundleId": .string(Bench.app), "environment": "Sandbox"])
    #expect(refusal(try Bench.body(payload), in: .production)?.code == "wrongEnvironment")
    var other = Bench.payload("TEST", nil, "data", ["bundleId": "com.example.other", "environment": "Sandbox"])
    other["notificationUUID"] = "u-2"
    let history: JSONObject = [
      "notificationHistory": [
        ["signedPayload": try Bench.signedValue(payload)], ["signedPayload": try Bench.signedValue(other)],
      ]
    ]
    #expect(refusal(history.encoded())?.code == "severalApps")
  }
}

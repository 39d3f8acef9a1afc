/// Real messages, read from beside the project: each gives exactly what is known of it.
@Suite(.enabled(if: Samples.directory != nil, "the samples are not beside the package"))
struct `Real samples, converted,` {
  /// A sample, and what `convert` makes of it.
  struct Known: Sendable {
    var path: String
    var app: String?
    var unsigned = false
    /// The document without each element's `provenance`, but for its source and trust; or the code of a refusal.
    var expected: String
  }

  private static let xcodeTransaction = """
    {"bundleId":"com.example.naturelab.backyardbirds.example","environment":"Xcode","transactionId":"0",\
    "originalTransactionId":"0","webOrderLineItemId":"0","productId":"pass.premium",\
    "subscriptionGroupIdentifier":"6F3A93AB","purchaseDate":1697679936050,"originalPurchaseDate":1697679936050,\
    "expiresDate":1700358336050,"quantity":1,"type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED",\
    "isUpgraded":false,"offerType":1,"storefront":"USA","storefrontId":"143441","transactionReason":"PURCHASE",\
    "line":"p1697679936050","rules":["T-001","T-002","T-003","T-004","T-005","T-006","T-007","T-008","T-009","T-010",\
    "T-012","T-017","T-018","T-022","T-023","T-024"],"source":"unsignedV2","asOf":1697679936056,"trust":"none"}
    """

  private static let xiachufangRenewal = """
    "environment":"Production","originalTransactionId":"220002745628668","productId":"test_product_2",\
    "autoRenewProductId":"test_product_2","autoRenewStatus":1,"renewalDate":1686973753000,\
    "recentSubscriptionStartDate":1658029753000,"rules":["R-001","R-002","R-003","R-004","R-005","R-016"],\
    "source":"unsignedV2","asOf":1686559782601,"trust":"none"
    """

  /// Fields that Xcode writes and Apple does not document.
  private static let xcodeSurvey = """
    "survey":{"unknownFields":["deviceVerification","deviceVerificationNonce"],"unusableFields":[],"unknownValues":[]}
    """

  static let known: [Known] = [
    Known(path: "v2/apple_signedNotification.json", expected: "unsigned"),
    Known(
      path: "v2/apple_signedNotification.json", unsigned: true,
      expected: """
        {"events":[{"bundleId":"com.example","environment":"LocalTesting","notificationType":"SUBSCRIBED",\
        "date":1698148900000,"subtype":"INITIAL_BUY","notificationUUID":"002e14d5-51f5-4503-b5a8-c3a1af68eb20",\
        "details":{"bundleVersion":"1.2.3","status":1},"rules":["N-001"],"source":"unsignedV2","asOf":1698148900000,\
        "trust":"none"}],"purchases":[],"renewals":[],"survey":{"unknownFields":[],\
        "unusableFields":["data.signedTransactionInfo","data.signedRenewalInfo"],"unknownValues":[]}}
        """),
    Known(path: "v2/apple_xcode_transaction.json", expected: "unsigned"),
    Known(
      path: "v2/apple_xcode_transaction.json", unsigned: true,
      expected: #"{"events":[],"purchases":[\#(xcodeTransaction)],"renewals":[],\#(xcodeSurvey)}"#),
    Known(path: "v2/omnichess_status_raw_jws.json", expected: "contradictsEnvelope"),
    Known(path: "v2/xiachufang_signed_renewal_info.json", app: "com.xiachufang.recipe", expected: "unsigned"),
    Known(
      path: "v2/xiachufang_signed_renewal_info.json", unsigned: true,
      expected: #"{"events":[],"purchases":[],"renewals":[{"bundleId":null,\#(xiachufangRenewal)}]}"#),
    Known(
      path: "v2/xiachufang_signed_renewal_info.json", app: "com.xiachufang.recipe", unsigned: true,
      expected: """
        {"events":[],"purchases":[],"renewals":[{"bundleId":"com.xiachufang.recipe",\(xiachufangRenewal)}]}
        """),
    Known(
      path: "apple_library/mock_signed_data/testNotification",
      expected: """
        {"events":[{"bundleId":"com.example","environment":"Sandbox","notificationType":"TEST","date":1681314324000,\
        "notificationUUID":"9ad56bd2-0bc6-42e0-af24-fd996d87a1e6","rules":["N-034"],"source":"signedV2",\
        "asOf":1681314324000,"trust":"signature"}],"purchases":[],"renewals":[]}
        """),
    Known(path: "apple_library/mock_signed_data/renewalInfo", app: "com.example", expected: "missingIdentity"),
    Known(path: "apple_library/mock_signed_data/transactionInfo", expected: "missingIdentity"),
    Known(path: "apple_library/mock_signed_data/wrongBundleId", expected: "missingClaim"),
    Known(path: "apple_library/mock_signed_data/missingX5CHeaderClaim", expected: "missingCertificates"),
    Known(path: "apple_library/mock_signed_data/legacyTransaction", expected: "missingDate"),
    Known(path: "apple_library/xcode/xcode-signed-transaction", expected: "unsignedTestData"),
    Known(
      path: "apple_library/xcode/xcode-signed-transaction", unsigned: true,
      expected: #"{"events":[],"purchases":[\#(xcodeTransaction)],"renewals":[],\#(xcodeSurvey)}"#),
    Known(
      path: "apple_library/xcode/xcode-signed-app-transaction", unsigned: true,
      expected: """
        {"events":[],"purchases":[],"renewals":[],"appTransactions":[{\
        "bundleId":"com.example.naturelab.backyardbirds.example","environment":"Xcode","applicationVersion":"1",\
        "originalApplicationVersion":"1","originalPurchaseDate":-62135769600000,"rules":["A-003","A-004","A-005"],\
        "source":"unsignedV2","asOf":1697680122257,"trust":"none"}],"survey":{"unknownFields":["requestDate"],\
        "unusableFields":[],"unknownValues":[]}}
        """),
    Known(path: "receipts/apple_xcode_with_transaction.b64", expected: "xcodeReceipt"),
    Known(
      path: "receipts/apple_xcode_with_transaction.b64", unsigned: true,
      expected: """
        {"events":[],"purchases":[{"bundleId":"com.example.naturelab.backyardbirds.example","environment":"Xcode",\
        "transactionId":"0","originalTransactionId":"0","productId":"pass.premium","purchaseDate":1697679936000,\
        "expiresDate":1700358336000,"quantity":1,"offerType":1,"line":"p1697679936000",\
        "rules":["P-001","P-002","P-004","P-006","P-008","P-009","P-013","P-015"],"source":"unverifiedReceipt",\
        "asOf":1697679940000,"trust":"none"}],"renewals":[]}
        """),
    Known(path: "receipts/apple_xcode_empty.b64", expected: "xcodeReceipt"),
    Known(path: "receipts/tpinapp_xcode_2020.b64", expected: "xcodeReceipt"),
    Known(
      path: "receipts/mindnode_ios_sandbox1.b64", expected: #"{"events":[],"purchases":[],"renewals":[]}"#),
    Known(
      path: "receipts/ios6_mbaasy_yearly_2015.b64",
      expected: """
        {"events":[],"purchases":[{"bundleId":"com.mbaasy.ios.demo","environment":"Sandbox",\
        "transactionId":"1000000181298734","originalTransactionId":"1000000180636226",\
        "webOrderLineItemId":"1000000030938713","productId":"yearly","purchaseDate":1447821281000,\
        "originalPurchaseDate":1447778081000,"expiresDate":1448346881000,"quantity":1,"line":"1000000030938713",\
        "rules":["P-001","P-002","P-003","P-004","P-006","P-007","P-008","P-009"],"source":"verifiedReceipt",\
        "asOf":1447821281000,"trust":"receipt"}],"renewals":[]}
        """),
    Known(
      path: "receipts/ios6_mindmob_consumable_2012.b64",
      expected: """
        {"events":[],"purchases":[{"bundleId":"com.mindmobapp.MindMob","environment":"Sandbox",\
        "transactionId":"1000000046178817","originalTransactionId":"1000000046178817",\
        "productId":"com.mindmobapp.download","purchaseDate":1335798355868,"originalPurchaseDate":1335798355868,\
        "quantity":1,"line":"","rules":["P-001","P-002","P-004","P-006","P-007","P-009"],"source":"verifiedReceipt",\
        "asOf":1335798355868,"trust":"receipt"}],"renewals":[]}
        """),
  ]
  private static func convert(_ sample: Known) throws(ConversionError) -> JSONObject {
    guard let bytes = Samples.bytes(sample.path), let root = Samples.bytes("apple_library/certs/testCA.der"),
      let roots = try? RootCertificate.read(root)
    else { return ["missing": .string(sample.path)] }
    let isMock = sample.path.hasPrefix("apple_library/mock")
    let conversion = Conversion(
      verifier: SignedDataVerifier(roots: isMock ? TrustedRoots(exactly: roots) : .apple), receipts: ReceiptReader(),
      app: sample.app, allowsUnsigned: sample.unsigned)
    return CanonicalDocument(try conversion.read(bytes, now: Bench.now)).json
  }

  @Test(arguments: known)
  func `are exactly what is known of them`(sample: Known) {
    var made: String
    do throws(ConversionError) {
      var document = try Self.convert(sample)
      for member in document {
        guard let elements = member.value.array else { continue }
        document[member.key] = .array(
          elements.map { element in
            var flat = element.object ?? JSONObject()
            let provenance = flat["provenance"]?.object
            flat["provenance"] = nil
            for name in ["source", "asOf", "trust"] { flat[name] = provenance?[name] }
            return .object(flat)
          })
      }
      made = String(decoding: document.encoded(), as: UTF8.self)
    } catch { made = error.code }
    #expect(made == sample.expected, "\(sample.path)")
  }

  /// What `expected.json` says of each app receipt of Apple's.
  private static let receipts: [JSONObject] = {
    let list = Samples.bytes("receipts/expected.json").flatMap { try? JSONReader.read($0).array } ?? []
    return list.compactMap(\.object).filter { $0["chain"] == "Apple Root CA" }
  }()

  @Test(arguments: receipts)
  func `receipts have every purchase that is known to be in them`(known: JSONObject) throws {
    let file = try #require(known["file"]?.string)
    let document = try Self.convert(Known(path: "receipts/\(file)", expected: ""))
    let purchases = (document["purchases"]?.array ?? []).compactMap(\.object)
    func said(_ name: String) -> Set<String> { Set(purchases.compactMap { $0[name]?.string }) }
    func listed(_ name: String) -> Set<String> { Set((known[name]?.array ?? []).compactMap(\.string)) }
    #expect(purchases.count == known["n_in_app"]?.integer.map(Int.init))
    #expect(said("transactionId") == listed("transaction_ids"))
    #expect(said("originalTransactionId") == listed("original_transaction_ids"))
    #expect(said("productId") == listed("product_ids"))
    for purchase in purchases {
      #expect(purchase["bundleId"] == known["bundle_id"] && purchase["environment"] == "Sandbox")
      #expect(purchase["purchaseDate"]?.integer != nil)
      let provenance = purchase["provenance"]?.object
      #expect(provenance?["source"] == "verifiedReceipt" && provenance?["trust"] == "receipt")
      let rules = Set((purchase["rules"]?.array ?? []).compactMap(\.string))
      #expect(rules.isSuperset(of: ["P-001", "P-002", "P-004", "P-006"]))
    }
  }
}

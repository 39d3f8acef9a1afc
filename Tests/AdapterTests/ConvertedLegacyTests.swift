/// Real bodies and answers of the old generation, read from beside the project, in V2's words.
@Suite(.enabled(if: Samples.directory != nil, "the samples are not beside the package"))
struct `Real V1 samples, converted,` {
  /// A sample, and what `convert` makes of it.
  struct Known: Sendable {
    let path: String
    /// App, environment, and of the first purchase who said it, what vouches for it and when.
    let whose: String
    /// Type and subtype, date and rules of each.
    let events: [String]
    let purchases: Int
    /// Of the last purchase: its ids, product, dates, type and rules.
    let last: String
    /// The id, the next product, whether it renews, and rules of each.
    let renewals: [String]
  }

  static let known: [Known] = [
    Known(
      path: "verify_receipt/mbaasy_ios6_expired_21006.json",
      whose: "com.mbaasy.ios.demo null verifyReceiptAnswer none 1448346881000",
      events: [], purchases: 1,
      last: "1000000180636226 1000000180703127 yearly 1447821281000 1448346881000 Auto-Renewable "
        + "Subscription I-001 I-002 L-001 L-002 L-003 L-004 L-006 L-007 L-008 L-009",
      renewals: []),
    Known(
      path: "verify_receipt/mbaasy_ios6_subscription.json",
      whose: "com.mbaasy.ios.demo Sandbox verifyReceiptAnswer none 1447821281000",
      events: [], purchases: 1,
      last: "1000000180636226 1000000180703127 yearly 1447821281000 1448346881000 Auto-Renewable "
        + "Subscription I-001 I-002 L-001 L-002 L-003 L-004 L-006 L-007 L-008 L-009",
      renewals: []),
    Known(
      path: "verify_receipt/mbaasy_unified.json",
      whose: "com.mbaasy.ios.demo Sandbox verifyReceiptAnswer receipt 1448129867409",
      events: [], purchases: 35,
      last: "1000000166965150 1000000168567624 weekly 1440155844000 1440156024000 Auto-Renewable "
        + "Subscription I-002 I-007 L-001 L-002 L-003 L-004 L-006 L-007 L-008 L-009 P-010",
      renewals: []),
    Known(
      path: "verify_receipt/nov_valid_application.json",
      whose: "com.tekkinnovations.fars Sandbox verifyReceiptAnswer none 1385477349878",
      events: [], purchases: 2,
      last: "1000000091221097 1000000091221097 com.tekkinnovations.fars.subscription.3.months "
        + "1385445528000 - - I-002 I-003 L-001 L-002 L-004 L-006 L-007 L-008",
      renewals: []),
    Known(
      path: "verify_receipt/revenuecat_sandbox_sampleapp.json",
      whose: "com.revenuecat.sampleapp Sandbox verifyReceiptAnswer none 1595440486402",
      events: [], purchases: 9,
      last: "1000000692878476 1000000696553650 com.revenuecat.annual_39.99.2_week_intro 1595439546000 "
        + "1595443146000 Auto-Renewable Subscription I-001 I-002 I-007 L-001 L-002 L-003 L-004 "
        + "L-005 L-006 L-007 L-008 L-009",
      renewals: ["1000000692878476 com.revenuecat.annual_39.99.2_week_intro 1 Q-001 Q-002 Q-003 Q-004"]),
    Known(
      path: "notifications_v1/educreations_DID_FAIL_TO_RENEW.json",
      whose: "com.educreations.ios.Educreations Production notificationV1 none 1599527817000",
      events: ["DID_FAIL_TO_RENEW 1599527817000 V-021"], purchases: 1,
      last: "70000762954330 00000000000000 com.educreations.proteacher.1month 1596849417000 "
        + "1599527817000 Auto-Renewable Subscription I-001 I-002 L-001 L-002 L-003 L-004 L-005 "
        + "L-006 L-007 L-008 L-009",
      renewals: ["70000762954330 com.educreations.proteacher.1month 1 Q-001 Q-003 Q-004"]),
    Known(
      path: "notifications_v1/educreations_INITIAL_BUY.json",
      whose: "com.educreations.ios.Educreations Production notificationV1 none 1593216162000",
      events: ["SUBSCRIBED/INITIAL_BUY 1593216159000 V-001"], purchases: 1,
      last: "000000000000000 000000000000000 com.educreations.proteacher.1month 1593216159000 "
        + "1595808159000 Auto-Renewable Subscription I-001 I-002 I-003 L-001 L-002 L-003 L-004 "
        + "L-005 L-006 L-007 L-008 L-009",
      renewals: ["000000000000000 com.educreations.proteacher.1month 1 Q-001 Q-002 Q-003 Q-004"]),
    Known(
      path: "notifications_v1/imdhemy_server_notification_DID_CHANGE_RENEWAL_STATUS.json",
      whose: "com.some.thing Production notificationV1 none 1606293062000",
      events: [
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED 1606293002000 V-011", "EXPIRED/VOLUNTARY 1606293062000 V-012",
      ], purchases: 54,
      last: "1000000723811158 1000000746095599 one_month_subscription 1606292762000 1606293062000 "
        + "Auto-Renewable Subscription I-001 I-002 I-007 L-001 L-002 L-003 L-004 L-005 L-006 L-007 "
        + "L-008 L-009",
      renewals: ["1000000723811158 one_month_subscription 0 Q-001 Q-002 Q-003 Q-004 Q-005 Q-006"]),
    Known(
      path: "notifications_v1/seed000_DID_RENEW_2024_skeleton.json",
      whose: "com.xxxx Sandbox notificationV1 none 1705289149000",
      events: ["DID_RENEW 1705289149000 V-022"], purchases: 1,
      last: "2000000000000001 2000000000000002 com.xxxx.yearly 1705289149000 1705292749000 "
        + "Auto-Renewable Subscription I-001 L-001 L-002 L-003 L-004 L-005 L-006 L-007 L-008 L-009 "
        + "L-013",
      renewals: ["2000000000000001 com.xxxx.yearly 1 Q-001 Q-002 Q-003 Q-004"]),
  ]

  private static func convert(_ path: String) throws -> JSONObject {
    let bytes = try #require(Samples.bytes(path))
    let conversion = Conversion(verifier: SignedDataVerifier(roots: .apple), receipts: ReceiptReader())
    return CanonicalDocument(try conversion.read(bytes, now: Bench.now)).json
  }

  private func elements(_ name: String, _ document: JSONObject) -> [JSONObject] {
    (document[name]?.array ?? []).compactMap(\.object)
  }

  private func words(_ object: JSONObject, _ names: [String]) -> String {
    let values = names.map { name in
      object[name].map { $0.string ?? String(decoding: $0.encoded(), as: UTF8.self) } ?? "-"
    }
    let rules = (object["rules"]?.array ?? []).compactMap(\.string)
    return (values + rules).joined(separator: " ")
  }

  @Test(arguments: known)
  func `are exactly what is known of them`(sample: Known) throws {
    let document = try Self.convert(sample.path)
    let purchases = elements("purchases", document)
    #expect(purchases.count == sample.purchases)
    let first = try #require(purchases.first)
    var provenance = try #require(first["provenance"]?.object)
    provenance["rules"] = nil
    var whose: JSONObject = ["bundleId": first["bundleId"] ?? .null, "environment": first["environment"] ?? .null]
    for name in ["source", "trust", "asOf"] { whose[name] = provenance[name] }
    #expect(words(whose, ["bundleId", "environment", "source", "trust", "asOf"]) == sample.whose)
    let last = try #require(purchases.last)
    let names = ["originalTransactionId", "transactionId", "productId", "purchaseDate", "expiresDate", "type"]
    #expect(words(last, names) == sample.last)
    let events = elements("events", document).map { event in
      let subtype = event["subtype"]?.string.map { "/\($0)" } ?? ""
      return "\(event["notificationType"]?.string ?? "")\(subtype) \(words(event, ["date"]))"
    }
    #expect(events == sample.events)
    let renewals = elements("renewals", document).map {
      words($0, ["originalTransactionId", "autoRenewProductId", "autoRenewStatus"])
    }
    #expect(renewals == sample.renewals)
  }

  @Test(arguments: ["error_21007", "error_21009", "error_21104_retryable", "nov_invalid"])
  func `of answers without a purchase are refused, and say what their status means`(name: String) throws {
    do {
      let document = try Self.convert("verify_receipt/\(name).json")
      Issue.record("\(name) became \(document)")
    } catch let refusal as ConversionError {
      #expect(refusal.code == "verifyReceiptStatus" && refusal.detail.contains("status 21"))
    }
  }

  @Test(
    arguments: [
      ("receipts/revenuecat_sandbox_sampleapp.b64", "verify_receipt/revenuecat_sandbox_sampleapp.json", 9),
      ("receipts/mbaasy_unified_sandbox_2015.b64", "verify_receipt/mbaasy_unified.json", 7),
      ("receipts/ios6_mbaasy_yearly_2015.b64", "verify_receipt/mbaasy_ios6_subscription.json", 1),
    ] as [(String, String, Int)])
  func `of a receipt and of the answer to it agree on what both say`(
    receipt: String, answer: String, least: Int
  ) throws {
    let said = elements("purchases", try Self.convert(receipt))
    let answered = elements("purchases", try Self.convert(answer))
    var compared = 0
    for purchase in said {
      let same = answered.filter {
        $0["originalTransactionId"] == purchase["originalTransactionId"] && $0["line"] == purchase["line"]
          && $0["purchaseDate"] == purchase["purchaseDate"]
      }
      guard let other = same.first else { continue }
      compared += 1
      #expect(same.count == 1)
      // A restore makes a new transaction id, and of the original purchase another date.
      for member in purchase {
        guard let value = other[member.key],
          !["provenance", "rules", "transactionId", "originalPurchaseDate"].contains(member.key)
        else { continue }
        #expect(value == member.value, "\(member.key)")
      }
    }
    #expect(compared >= least)
  }
}

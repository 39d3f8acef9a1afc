@testable import Ledger
@testable import Service

@Suite struct `A document` {
  private let app = "com.example.document"
  private let start = Timestamp(1_780_000_000_000)

  private func facts<Field: FactField>(_ values: [(Field, JSONValue)]) -> Facts<Field> {
    var facts = Facts<Field>()
    for (field, value) in values {
      let isSet = facts.set(field, value)
      #expect(isSet)
    }
    return facts
  }

  private var dossier: CustomerRecord { dossier(.signedV2) }

  private func dossier(_ source: Source) -> CustomerRecord {
    let rank = Rank(asOf: start, tieBreak: .init(repeating: 1, count: 16))
    let message = [UInt8](repeating: 0xAB, count: 32)
    let key = PurchaseKey(
      app: app, environment: .sandbox, originalTransactionID: "11",
      line: Line(webOrderLineItemID: "5", purchaseDate: nil, isSubscription: true))
    return CustomerRecord(
      environment: .sandbox, originalTransactionIDs: ["11"],
      customers: ["o11": [.originalTransactionID("11"), .appTransactionID("71")]],
      purchases: [
        PurchaseStatement(
          key: key, source: source, rank: rank,
          facts: facts([
            (.originalTransactionId, "11"), (.productId, "monthly"), (.type, "Auto-Renewable Subscription"),
            (.purchaseDate, .integer(start.sinceEpoch)), (.expiresDate, .integer((start + .days(30)).sinceEpoch)),
          ]), message: message)
      ],
      renewals: [
        RenewalStatement(
          key: key.subscription, source: .signedV2, rank: rank, facts: facts([(.autoRenewStatus, 1)]),
          message: message)
      ],
      appTransactions: [
        AppTransactionStatement(
          key: AppTransactionKey(app: app, environment: .sandbox, appTransactionID: "71"), source: .signedV2,
          rank: rank, facts: facts([(.appTransactionId, "71")]), message: message)
      ],
      events: [
        Event(
          app: app, environment: .sandbox, notificationUUID: "u", notificationType: "SUBSCRIBED",
          subtype: "INITIAL_BUY", originalTransactionID: "11", transactionID: nil, line: key.line, date: start,
          source: .signedV2, rank: rank, details: ["status": 1], message: message, rule: "N-001")
      ])
  }

  private func describe(
    at now: Timestamp, _ extent: LedgerStore.Extent = .customers, provenance: Bool = false
  ) -> JSONObject {
    PurchaseDocument(vocabulary: .embedded, now: now, showsProvenance: provenance).describe(dossier, extent)
  }

  @Test func `of a dossier is this, member for member`() throws {
    let text = String(decoding: describe(at: start + .days(1)).encoded(), as: UTF8.self)
    let expected = [
      #"{"environment":"Sandbox","customers":[{"customer":"11","originalTransactionIds":["11"],"#,
      #""appTransactionIds":["71"]}],"purchases":[PURCHASE],"subscriptions":[{"originalTransactionId":"11","#,
      #""status":1,"statusName":"active","confirmed":true,"grantsAccess":true,"productId":"monthly","expiresDate":1782592000000,"#,
      #""renewal":{"autoRenewStatus":1,"asOf":1780000000000}}],"#,
      #""appTransactions":[{"appTransactionId":"71","asOf":1780000000000}],"#,
      #""events":[{"notificationType":"SUBSCRIBED","date":1780000000000,"subtype":"INITIAL_BUY","#,
      #""notificationUUID":"u","originalTransactionId":"11","details":{"status":1},"source":"signedV2","rule":"N-001"}],"#,
      #""accounts":[],"transfers":[]}"#,
    ].joined()
    let purchase: JSONObject = dossier.purchases[0].facts.json
    let facts = String(decoding: purchase.encoded(), as: UTF8.self).dropLast()
    #expect(
      text == expected.replacing("PURCHASE", with: facts + #","asOf":1780000000000,"line":"5","confirmed":true}"#))
  }

  @Test func `of purchases names no customer`() {
    #expect(describe(at: start, .purchases)["customers"] == nil)
    #expect(describe(at: start, .purchases)["purchases"]?.array?.count == 1)
  }

  @Test func `tells the status at its own time`() {
    let after = describe(at: start + .days(30))["subscriptions"]?.array?.first?.object
    #expect(after?["statusName"] == "expired" && after?["grantsAccess"] == false)
  }

  @Test func `marks what V1 alone says, which grants no access`() {
    let document = PurchaseDocument(vocabulary: .embedded, now: start, showsProvenance: false)
      .describe(dossier(.notificationV1), .purchases)
    #expect(document["purchases"]?.array?.first?.object?["confirmed"] == false)
    let subscription = document["subscriptions"]?.array?.first?.object
    #expect(subscription?["statusName"] == "active" && subscription?["confirmed"] == false)
    #expect(subscription?["grantsAccess"] == false)
  }

  @Test func `says that Apple is being asked, and until when access is held meanwhile`() throws {
    var dossier = dossier
    var claimed = dossier.purchases[0]
    (claimed.source, claimed.key.line) = (.notificationV1, Line(text: "6"))
    claimed.facts.set(.expiresDate, .integer((start + .days(60)).sinceEpoch))
    dossier.purchases.append(claimed)
    let message = [UInt8](repeating: 0xCD, count: 32)
    dossier.lookUps = [
      "11": PendingLookup(since: start + .days(29), because: [.period, .refund], message: message, failure: "why")
    ]
    (dossier.hold, dossier.canAskApple) = (AccessHold(hours: 10), true)
    func subscription(at now: Timestamp) throws -> JSONObject {
      let document = PurchaseDocument(vocabulary: .embedded, now: now, showsProvenance: false).describe(
        dossier, .purchases)
      return try #require(document["subscriptions"]?.array?.first?.object)
    }
    let running = try subscription(at: start + .days(29))
    #expect(running["grantsAccess"] == true && running["accessHeldUntil"] == nil && running["confirmed"] == true)
    let told = running["unconfirmed"]?.object
    #expect(told?["statusName"] == "active" && told?["expiresDate"] != running["expiresDate"])
    let lookUp: JSONObject = [
      "state": "open", "since": .integer((start + .days(29)).sinceEpoch), "because": ["period", "refund"],
      "message": .string(String(repeating: "cd", count: 32)),
    ]
    #expect(running["lookup"]?.object == lookUp, "what failed is for the operator")
    let held = try subscription(at: start + .days(30))
    #expect(held["grantsAccess"] == true)
    #expect(held["accessHeldUntil"] == .integer((start + .days(30) + .hours(10)).sinceEpoch))
    let after = try subscription(at: start + .days(30) + .hours(10))
    #expect(after["grantsAccess"] == false && after["accessHeldUntil"] == nil)
    #expect(after["statusName"] == "expired" && after["unconfirmed"]?.object?["statusName"] == "active")
    dossier.lookUps = [:]
    #expect(try subscription(at: start + .days(30))["grantsAccess"] == false)
    #expect(try subscription(at: start + .days(30))["lookup"] == nil)
    dossier.canAskApple = false
    #expect(try subscription(at: start + .days(30))["lookup"]?.object == ["state": "noAPIKey"])
  }

  @Test func `marks events that are no longer news, counts their tellings and shows to whom it belonged`() throws {
    let renewed = start + .days(30)
    var dossier = dossier
    var later = dossier.purchases[0]
    later.key.line = Line(text: "6")
    later.facts.set(.purchaseDate, .integer(renewed.sinceEpoch))
    dossier.purchases.append(later)
    var retry = dossier.events[0]
    (retry.source, retry.notificationUUID) = (.notificationV1, nil)
    var renewal = dossier.events[0]
    (renewal.notificationUUID, renewal.notificationType, renewal.line, renewal.date) = (
      "v", "DID_RENEW", later.key.line, renewed
    )
    dossier.events += [retry, renewal]
    dossier.attributions = ["alice", "bob"].enumerated().map { number, user in
      let asOf = start + .days(Int64(number))
      return AccountAssociation(.userID, user, of: "11", from: asOf, to: asOf, message: [])
    }
    let document = PurchaseDocument(vocabulary: .embedded, now: start, showsProvenance: false).describe(
      dossier, .purchases)
    let events = try #require(document["events"]?.array).map(\.object)
    #expect(events.map { $0?["superseded"] } == [true, nil])
    #expect(events.map { $0?["tellings"] } == [2, nil])
    #expect(document["accounts"]?.array?.map { $0.object?["userID"] } == ["alice", "bob"])
    let transfer = document["transfers"]?.array?.first?.object
    #expect(transfer?["from"] == "alice" && transfer?["to"] == "bob" && transfer?["of"] == "userID")
    #expect(transfer?["date"] == .integer((start + .days(1)).sinceEpoch))
  }

  /// Of the user and the token alike.
  @Test(arguments: [
    ("alice", false), ("bob", true), ("aaaaaaaa-0000-4000-8000-000000000001", false),
    ("BBBBBBBB-0000-4000-8000-000000000002", true), ("11", true),
  ])
  func `gives access to the present owner alone, and names them to everybody`(id: String, hasAccess: Bool) throws {
    var dossier = dossier
    dossier.attributions = (0..<2).flatMap { number -> [AccountAssociation] in
      let asOf = start + .days(Int64(number))
      let token = ["aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"][number]
      return [
        AccountAssociation(.userID, ["alice", "bob"][number], of: "11", from: asOf, to: asOf, message: []),
        AccountAssociation(.appAccountToken, token, of: "11", from: asOf, to: asOf, message: []),
      ]
    }
    let document = PurchaseDocument(vocabulary: .embedded, now: start + .days(2), showsProvenance: false)
    var page = ResultPage(document, on: id, of: dossier.customers, in: dossier.environment, .purchases)
    page.add(dossier)
    let subscription = try #require(page.finish().object["subscriptions"]?.array?.first?.object)
    #expect(subscription["statusName"] == "active")
    #expect(subscription["grantsAccess"] == .bool(hasAccess))
    #expect(
      subscription["owner"] == ["appAccountToken": "bbbbbbbb-0000-4000-8000-000000000002", "userID": "bob"])
  }

  @Test func `tells where each fact comes from when asked`() {
    #expect(describe(at: start)["purchases"]?.array?.first?.object?["provenance"] == nil)
    let purchase = describe(at: start, provenance: true)["purchases"]?.array?.first?.object
    let provenance = purchase?["provenance"]?.object
    #expect(provenance?.map(\.key) == dossier.purchases[0].facts.json.map(\.key))
    let product = provenance?["productId"]?.object
    #expect(product?["source"] == "signedV2" && product?["asOf"] == .integer(start.sinceEpoch))
    #expect(product?["message"] == .string(String(repeating: "ab", count: 32)))
    #expect(product?["rule"]?.string?.isEmpty == false)
  }
}

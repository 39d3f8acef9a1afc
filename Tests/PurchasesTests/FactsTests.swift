@Suite struct `The facts about a thing` {
  @Test(
    arguments: [
      (.productId, "premium", "premium"), (.productId, 7, nil), (.productId, .null, nil), (.productId, ["a"], nil),
      (.quantity, 1, 1), (.quantity, "1", nil), (.quantity, true, nil),
      (.price, 9_007_199_254_740_993, 9_007_199_254_740_993),
      (.isUpgraded, false, false), (.isUpgraded, "true", nil), (.isUpgraded, 1, nil),
      (.expiresDate, 1_700_358_336_049, 1_700_358_336_049), (.expiresDate, "1700358336049", nil),
      (.expiresDate, -62_135_769_600_000, -62_135_769_600_000), (.expiresDate, .null, nil),
      (.commitmentInfo, ["a": 1], ["a": 1]), (.commitmentInfo, [1], [1]), (.commitmentInfo, "a", nil),
      (.commitmentInfo, .null, nil), (.commitmentInfo, true, nil), (.commitmentInfo, 1, nil),
    ] as [(PurchaseField, JSONValue, JSONValue?)])
  func `take a value of their field's kind and no other`(field: PurchaseField, value: JSONValue, kept: JSONValue?) {
    var facts = Facts<PurchaseField>()
    let isTaken = facts.set(field, value)
    #expect(isTaken == (kept != nil))
    #expect(facts[field] == kept)
  }

  @Test(
    arguments: [
      ("1697679936049.7297", 1_697_679_936_050, nil), ("1697679936049.4", 1_697_679_936_049, nil), ("1.0", 1, 1),
      ("1e3", 1_000, 1_000), ("1.5", 2, nil), ("-0", 0, 0), ("1e400", nil, nil),
    ] as [(String, Int64?, Int64?)])
  func `round dates to milliseconds and take whole numbers only`(text: String, date: Int64?, integer: Int64?) throws {
    let value = try JSONReader.read(Array(text.utf8))
    var facts = Facts<PurchaseField>()
    facts.set(.purchaseDate, value)
    facts.set(.quantity, value)
    #expect(facts.date(.purchaseDate)?.sinceEpoch == date)
    #expect(facts.integer(.quantity) == integer)
  }

  @Test func `keep what they have when a value is refused`() {
    var facts = factsOf([PurchaseField.quantity: 2])
    facts.set(.quantity, "3")
    #expect(facts.integer(.quantity) == 2)
    facts.set(.quantity, 3)
    #expect(facts.integer(.quantity) == 3)
  }

  @Test func `are read back from what they are written as`() throws {
    let written = factsOf([
      PurchaseField.transactionId: "2000000906235058", .purchaseDate: 1_698_148_900_123, .isUpgraded: true,
      .price: 9_990, .commitmentInfo: ["totalBillingPeriods": 12, "billingPeriodNumber": 3],
    ])
    let bytes = written.json.encoded()
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"transactionId":"2000000906235058","purchaseDate":1698148900123,"isUpgraded":true,"price":9990,"#
        + #""commitmentInfo":{"totalBillingPeriods":12,"billingPeriodNumber":3}}"#)
    let json = try #require(JSONReader.read(bytes).object)
    #expect(Facts<PurchaseField>(json: json) == written)
    #expect(written.known.map(\.field) == [.transactionId, .purchaseDate, .isUpgraded, .price, .commitmentInfo])
    #expect(Facts<PurchaseField>(json: ["newer": 1, "quantity": "x", "price": 5]) == factsOf([.price: 5]))
  }

  @Test func `tell what was stated from what was inferred`() {
    var facts = factsOf([PurchaseField.productId: "premium"])
    let isNoted = facts.infer(.type, "Auto-Renewable Subscription")
    #expect(isNoted && facts.text(.type) == "Auto-Renewable Subscription")
    #expect(facts.isInferred(.type) && !facts.isInferred(.productId) && !facts.isInferred(.price))
    let isReplaced = facts.infer(.type, "Consumable")
    #expect(isReplaced && facts.text(.type) == "Consumable")
    let isOfAnotherKind = facts.infer(.type, 3)
    #expect(!isOfAnotherKind && facts.text(.type) == "Consumable" && facts.isInferred(.type))
    facts.set(.type, "Consumable")
    #expect(!facts.isInferred(.type))
    let isStated = !facts.infer(.type, "Non-Consumable")
    #expect(isStated && facts.text(.type) == "Consumable" && !facts.isInferred(.type))
  }

  @Test func `keep what is inferred as a list of names beside the values`() throws {
    var written = factsOf([PurchaseField.productId: "premium", .quantity: 1])
    written.infer(.commitmentInfo, ["a": 1])
    written.infer(.type, "Consumable")
    let bytes = written.json.encoded()
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"productId":"premium","quantity":1,"type":"Consumable","commitmentInfo":{"a":1},"#
        + #""inferred":["type","commitmentInfo"]}"#)
    let json = try #require(JSONReader.read(bytes).object)
    #expect(Facts<PurchaseField>(json: json) == written)
    #expect(written != factsOf([.productId: "premium", .quantity: 1, .type: "Consumable", .commitmentInfo: ["a": 1]]))
    #expect(Facts<PurchaseField>(json: ["price": 5, "inferred": ["newer", 7]]) == factsOf([.price: 5]))
    #expect(PurchaseField(name: "inferred") == nil && RenewalField(name: "inferred") == nil)
    #expect(AppTransactionField(name: "inferred") == nil)
  }

  @Test func `take of a payload what has a field's name and is of its kind, in any order`() {
    let payload: JSONObject = [
      "price": 5, "bundleId": "com.example", "type": "Consumable", "quantity": "two", "isUpgraded": .null,
      "expiresDate": 7, "transactionId": "1", "newField": 1,
    ]
    let facts: Facts<PurchaseField> = factsOf([.price: 5, .type: "Consumable", .expiresDate: 7, .transactionId: "1"])
    #expect(Facts<PurchaseField>(stated: payload) == facts)
    #expect(Facts<PurchaseField>(stated: JSONObject(uniqueMembers: payload.members.reversed())) == facts)
    #expect(Facts<AppTransactionField>(stated: [:]) == Facts())
  }

  @Test(
    arguments: [
      [:], [.price: 5], [.transactionId: "1\"\n", .isUpgraded: true],
      [.type: "Consumable", .advancedCommerceInfo: ["items": [1]], .expiresDate: -7],
    ] as [[PurchaseField: JSONValue]])
  func `are written as their JSON is`(values: [PurchaseField: JSONValue]) {
    var facts = factsOf(values)
    #expect(facts.encoded() == facts.json.encoded())
    facts.infer(.storefront, "USA")
    #expect(facts.encoded() == facts.json.encoded())
  }

  @Test func `have a bit for each field`() {
    #expect(PurchaseField.allCases.count <= 64 && RenewalField.allCases.count <= 64)
  }

  @Test func `name every field as Apple does, both ways`() {
    for field in PurchaseField.allCases { #expect(PurchaseField(name: field.name) == field) }
    for field in RenewalField.allCases { #expect(RenewalField(name: field.name) == field) }
    for field in AppTransactionField.allCases { #expect(AppTransactionField(name: field.name) == field) }
    #expect(PurchaseField.originalTransactionId.name == "originalTransactionId")
    #expect(PurchaseField(name: "OriginalTransactionId") == nil)
  }

  @Test(
    arguments: [
      ([.type: "Auto-Renewable Subscription"], true), ([.type: "Consumable", .expiresDate: 1], false), ([:], false),
      ([.expiresDate: 1], true), ([.subscriptionGroupIdentifier: "2"], true), ([.webOrderLineItemId: "7"], true),
      ([.webOrderLineItemId: "0"], false), ([.webOrderLineItemId: ""], false), ([.productId: "coins"], false),
    ] as [([PurchaseField: JSONValue], Bool)])
  func `tell a subscription by its type, else by what only subscriptions have`(
    values: [PurchaseField: JSONValue], isSubscription: Bool
  ) {
    #expect(factsOf(values).isSubscription == isSubscription)
  }
}

@Suite struct `A line` {
  @Test(
    arguments: [
      ("2000000068412345", 5, true, "2000000068412345", true),
      ("2000000068412345", nil, false, "2000000068412345", true),
      ("0", 5, true, "p5", false), ("", 5, true, "p5", false), (nil, 5, true, "p5", false), (nil, 5, false, "", false),
      (nil, nil, true, "", false), ("0", nil, true, "", false), ("0", 5, false, "", false),
      (nil, -7, true, "p-7", false),
    ] as [(String?, Int64?, Bool, String, Bool)])
  func `is Apple's, else a subscription's purchase date, else empty`(
    id: String?, date: Int64?, isSubscription: Bool, text: String, isNamed: Bool
  ) {
    let line = Line(
      webOrderLineItemID: id, purchaseDate: date.map(Timestamp.init), isSubscription: isSubscription)
    #expect(line.text == text)
    #expect(line.isNamed == isNamed)
  }
}

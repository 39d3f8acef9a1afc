@Suite struct `A survey` {
  @Test(
    arguments: [
      ("type", "Lifetime", "type=Lifetime"), ("environment", "production", "environment=production"),
      ("revocationReason", 2, "revocationReason=2"), ("offerType", 0, "offerType=0"), ("offerType", 5, "offerType=5"),
      ("inAppOwnershipType", "", "inAppOwnershipType="),
    ] as [(String, JSONValue, String)])
  func `counts values that are not documented, and they are still shown`(
    field: String, value: JSONValue, found: String
  ) {
    let payload = TransactionPayload([field: value])
    #expect(payload.survey().unknownValues == [found])
    #expect(payload.survey().unusableFields.isEmpty)
    #expect(payload.json[field] == value)
  }

  @Test func `goes down into structures and tells the path`() {
    let payload = NotificationPayload([
      "notificationType": "DID_DREAM", "new": 1,
      "data": ["status": 6, "newer": ["x": 1], "bundleId": 7, "environment": "Production"],
    ])
    var survey = payload.survey()
    #expect(survey.unknownFields == ["new", "data.newer"])
    #expect(survey.unusableFields == ["data.bundleId"])
    #expect(survey.unknownValues == ["notificationType=DID_DREAM", "data.status=6"])
    #expect(!survey.isClean)
    #expect(payload.notificationType == "DID_DREAM")

    // Of Advanced Commerce nothing is read here.
    let info: JSONValue = ["items": [["SKU": "a", "refunds": [["refundType": "HALF"]]]]]
    #expect(TransactionPayload(["advancedCommerceInfo": info]).survey().isClean)
    survey.add(TransactionPayload(["advancedCommerceInfo": "SKU"]).survey())
    #expect(survey.unusableFields == ["data.bundleId", "advancedCommerceInfo"])
  }

  @Test func `shows the beginning of a long value`() {
    let survey = TransactionPayload(["type": .string(String(repeating: "x", count: 1_000))]).survey()
    #expect(survey.unknownValues.map(\.count) == ["type=".count + 64])
  }

  @Test func `takes fractional dates, year 1 and whole numbers written with a point as they are`() throws {
    let text =
      #"{"purchaseDate":1697679936049.7297,"expiresDate":-62135769600000,"quantity":1.0,"price":9007199254740993,"#
      + #""revocationPercentage":1.5}"#
    let payload = TransactionPayload(try #require(JSONReader.read(Array(text.utf8)).object))
    #expect(payload.purchaseDate == Timestamp(1_697_679_936_050))
    #expect(payload.expiresDate == Timestamp(-62_135_769_600_000))
    #expect(payload.quantity == 1)
    #expect(payload.price == 9_007_199_254_740_993)
    #expect(payload.revocationPercentage == nil)
    #expect(payload.survey().unusableFields == ["revocationPercentage"])
    #expect(payload.json.encoded() == Array(text.utf8))
  }
}

@Suite struct `A consumption request` {
  private static let good: JSONObject = [
    "customerConsented": true, "consumptionPercentage": 100_000, "deliveryStatus": "DELIVERED",
    "refundPreference": "GRANT_PRORATED", "sampleContentProvided": false,
  ]
  private static let goodV1: JSONObject = [
    "customerConsented": true, "consumptionStatus": 3, "platform": 1, "sampleContentProvided": true,
    "deliveryStatus": 5, "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138", "accountTenure": 7, "playTime": 7,
    "lifetimeDollarsRefunded": 7, "lifetimeDollarsPurchased": 7, "userStatus": 4, "refundPreference": 3,
  ]

  @Test func `that Apple takes has no problems`() {
    #expect(ConsumptionRequest(Self.good).problems == [])
    #expect(ConsumptionRequestV1(Self.goodV1).problems == [])
    var least: JSONObject = ["customerConsented": true, "appAccountToken": ""]
    #expect(ConsumptionRequestV1(least).problems == [])
    least = ["customerConsented": true, "deliveryStatus": "UNDELIVERED_OTHER", "sampleContentProvided": true]
    #expect(ConsumptionRequest(least).problems == [])
  }

  @Test(arguments: [
    ("customerConsented", JSONValue.bool(false)), ("customerConsented", .null), ("customerConsented", "true"),
    ("consumptionPercentage", -1), ("consumptionPercentage", 100_001), ("consumptionPercentage", "50"),
    ("deliveryStatus", "SENT"), ("deliveryStatus", .null), ("refundPreference", "MAYBE"),
    ("sampleContentProvided", .null), ("sampleContentProvided", 1), ("userStatus", 1),
  ])
  func `that Apple refuses says what is wrong`(field: String, value: JSONValue) {
    var request = Self.good
    request[field] = value
    let problems = ConsumptionRequest(request).problems
    #expect(!problems.isEmpty && problems.allSatisfy { $0.hasPrefix(field) })
  }

  @Test(arguments: [
    ("customerConsented", JSONValue.bool(false)), ("consumptionStatus", 4), ("platform", 3), ("deliveryStatus", 6),
    ("appAccountToken", .null), ("appAccountToken", "me"), ("accountTenure", 8), ("playTime", -1),
    ("lifetimeDollarsRefunded", 8), ("lifetimeDollarsPurchased", "1"), ("userStatus", 5), ("refundPreference", 4),
    ("consumptionPercentage", 1),
  ])
  func `of the old version that Apple refuses says what is wrong`(field: String, value: JSONValue) {
    var request = Self.goodV1
    request[field] = value
    let problems = ConsumptionRequestV1(request).problems
    #expect(!problems.isEmpty && problems.allSatisfy { $0.hasPrefix(field) })
  }
}

@Suite struct `The controls` {
  @Test func `say what is wrong with an order`() async throws {
    try await House.with(House.quiet()) { house in
      let rows: [(String, String, JSONObject?, String)] = [
        ("GET", "nothing", nil, "notFound"), ("PATCH", "world", nil, "methodNotAllowed"),
        ("POST", "advance", nil, "missingValue"), ("POST", "advance", ["days": -1], "invalidValue"),
        ("POST", "act", ["customer": "0.0"], "missingValue"),
        ("POST", "act", ["customer": "0.0", "act": "dance"], "invalidValue"),
        ("POST", "act", ["customer": "7.0", "act": "restore"], "notFound"),
        ("POST", "act", ["customer": "0.0", "act": "refund", "transactionId": "1"], "refused"),
        ("POST", "customers", ["bundleId": "com.example.none", "environment": "Sandbox"], "notFound"),
        ("POST", "customers", ["bundleId": .string(House.bundleID), "environment": "Mars"], "invalidValue"),
        ("POST", "faults", ["fault": "flood"], "invalidValue"), ("DELETE", "faults/9", nil, "notFound"),
        (
          "PUT", "destinations",
          ["bundleId": .string(House.bundleID), "environment": "Sandbox", "url": "file:///x"], "invalidValue"
        ),
        ("GET", "notifications?state=gone", nil, "invalidValue"), ("GET", "customers/x", nil, "notFound"),
      ]
      for (method, path, body, code) in rows {
        let answer = try await house.control(method, path, body)
        #expect(answer.object["error"]?.string == code, "\(method) \(path)")
        #expect(answer.object["message"]?.string?.isEmpty == false)
      }
      let noJSON = try await house.call("POST", house.running.controlURL + "/act", body: Array("{".utf8))
      #expect(noJSON.object["error"] == "notJSON")
    }
  }

  @Test func `enrol customers, let them act, and tell the truth of them`() async throws {
    try await House.with(House.quiet()) { house in
      let made = try await house.control(
        "POST", "customers",
        ["bundleId": .string(House.bundleID), "environment": "Production", "storefront": "JPN"])
      #expect(made.object["customer"] == "1.0" && made.object["storefront"] == "JPN")
      let id = try await house.act("buy", ["productId": "archive"])[0]
      try await house.act("restore")
      let byID = try await house.control(
        "POST", "act",
        [
          "act": "refund", "transactionId": .string(id), "bundleId": .string(House.bundleID),
          "environment": "Sandbox",
        ])
      #expect(byID.object["customer"] == "0.0")
      func truth(_ query: String) async throws -> [JSONObject] {
        try await house.control("GET", "truth\(query)").body.split(separator: 0x0A)
          .compactMap { try JSONReader.read(Array($0)).object }
      }
      let all = try await truth("").filter { $0["kind"] == "purchase" }
      #expect(all.map { $0["transaction"]?.object?["transactionId"]?.string } == [id])
      #expect(all[0]["transaction"]?.object?["revocationDate"] != nil)
      let old = try await truth("?v1Only=true").filter { $0["kind"] == "purchase" }
      #expect(old.count == 1)
      #expect(old[0]["transaction"]?.object?["transactionId"]?.string != id, "V1 gives it another id")
      let world = try await house.control("GET", "world").object
      #expect(world["customers"] == 2 && world["now"]?.integer == House.start.sinceEpoch)
      #expect(try await house.control("GET", "customers?limit=1&skip=1").object["customers"]?.array?.count == 1)
    }
  }
}

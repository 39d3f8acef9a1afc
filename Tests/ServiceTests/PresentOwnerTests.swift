@Suite struct `A purchase that passes between users` {
  private final class Clock: Sendable {
    private let time = Mutex(RunningService.now)

    var wall: WallClock { WallClock { self.time.withLock { $0 } } }

    func pass(_ interval: Interval) { time.withLock { $0 = $0 + interval } }
  }

  private static func owner(_ user: String, _ service: RunningService) async throws -> JSONValue? {
    let path = "/v1/apps/\(RunningService.app)/customers/\(user)"
    let found = try await service.get(path, token: service.token)
    let result = try #require(found.body["results"]?.array?.first?.object, "\(found)")
    return result["purchases"]?.array?.first?.object?["owner"]
  }

  /// Two users take turns on one device: each hands in the same signed purchase, again and again.
  @Test func `belongs to whoever named it last, also where the same was said before`() async throws {
    let clock = Clock()
    try await RunningService.with(clock: clock.wall) { service in
      let signed = RunningService.now - .hours(1)
      let purchase = try service.pki.sign([
        "transactionId": "3000001", "originalTransactionId": "3000001", "bundleId": .string(RunningService.app),
        "productId": "lifetime", "type": "Non-Consumable", "purchaseDate": .integer(signed.sinceEpoch),
        "signedDate": .integer(signed.sinceEpoch), "environment": "Sandbox",
      ])
      let bare = Array(#"{"transactionId":"3000001"}"#.utf8)
      for body in [purchase, bare] {
        for (user, status) in [("alice", "stored"), ("bob", "stored"), ("alice", "duplicate"), ("bob", "duplicate")] {
          clock.pass(.hours(1))
          let taken = try await service.post("/v1/evidence?userId=\(user)", body, token: service.token)
          #expect(taken.body["status"]?.string == status, "\(taken)")
          let isFirst = status == "stored" && user == "alice" && body == purchase
          for asked in isFirst ? ["alice"] : ["alice", "bob"] {
            #expect(try await Self.owner(asked, service) == (isFirst ? nil : ["userID": .string(user)]), "\(user)")
          }
        }
        // A back end whose answer was lost sends the same again.
        clock.pass(.minutes(4))
        let repeated = try await service.post("/v1/evidence?userId=alice", body, token: service.token)
        #expect(repeated.body["status"] == "duplicate")
        #expect(try await Self.owner("bob", service) == ["userID": "bob"])
      }
    }
  }
}

@Suite struct `A request of the back end` {
  @Test func `is of the environment that it names, and of no parameter that nobody reads`() async throws {
    try await RunningService.with { service in
      #expect(try await service.post("/notifications", service.notification(id: "2000000900000001")).status == 200)
      let path = "/v1/apps/\(RunningService.app)/customers/2000000900000001"
      for (query, status, code) in [
        ("", 200, nil), ("?environment=Sandbox", 200, nil), ("?environment=Production", 404, "unknownId"),
        ("?environment=Moon", 400, "unknownEnvironment"), ("?Environment=Production", 400, "unknownParameter"),
        ("?limit=1&provenance=false", 200, nil),
      ] {
        let answer = try await service.get(path + query, token: service.token)
        #expect(answer.status == status, "\(query)")
        #expect(answer.body["error"]?.object?["code"]?.string == code, "\(query)")
      }
      let evidence = Array(#"{"transactionId":"2000000900000001"}"#.utf8)
      let refused = try await service.post("/v1/evidence?user=ada", evidence, token: service.token)
      #expect(refused.body["error"]?.object?["code"] == "unknownParameter")
    }
  }
}

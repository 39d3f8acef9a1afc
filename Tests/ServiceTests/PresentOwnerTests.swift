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
      }
    }
  }
}

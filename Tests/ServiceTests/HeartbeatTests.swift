import Database
import HTTPServer
import JSON
import Ledger
import Purchases
import Runtime
import Service
import Simulator
import Support
import Testing
import Time
import Truth

@Suite struct `The heartbeat` {
  private func heartbeat(_ kept: KeptUp) async throws -> Heartbeat? {
    try await kept.pool.read { session throws(DatabaseError) in
      try HeartbeatTable.all(in: session).first { $0.scope.environment == .sandbox }
    }
  }

  @Test func `comes back, is lost with Apple's reason, and is well again`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world) { kept in
      kept.send(.v2)
      let http = kept.asking()
      let check = HeartbeatCheck(
        client: http.client, ledger: Ledger(pool: kept.pool), every: .hours(24), within: .minutes(10),
        clock: kept.clock.clock)
      let place = try await kept.place()
      #expect(try await check.check(place) == .asked)
      let second = try await check.check(place)
      #expect(second == .waiting || second == .returned, "another process has it")
      // The simulated App Store sends with the world's time.
      try await kept.advance(.minutes(1))
      let isBack = try await second == .returned ? true : eventually { try await check.check(place) == .returned }
      #expect(isBack)
      #expect(try await heartbeat(kept)?.lostSince == nil)

      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "times": .null])
      try await kept.advance(.hours(25))
      #expect(try await check.check(place) == .asked)
      let asked = try #require(try await heartbeat(kept)).askedAt
      try await kept.advance(.minutes(11))
      let lost = try await check.check(place)
      guard case .lost = lost else { throw NotLost(finding: lost) }
      #expect(try await check.check(place) == .waiting, "said once")
      #expect(try await heartbeat(kept)?.lostSince == asked)

      try await kept.mend()
      try await kept.advance(.hours(25))
      #expect(try await check.check(place) == .asked)
      #expect(try await heartbeat(kept)?.lostSince == asked, "lost until one comes back")
      try await kept.advance(.minutes(1))
      let isWell = try await eventually { try await check.check(place) == .returned }
      #expect(isWell)
      #expect(try await heartbeat(kept)?.lostSince == nil)
      await http.end()
    }
  }

  @Test func `is not lost in Production before the app is there, and is once a purchase was`() async throws {
    try await Self.inProduction(of: Refusing(sandboxCode: 4_040_010)) { kept, check, place in
      for _ in 0..<2 {
        #expect(try await check.check(place) == .waiting)
        kept.clock.advance(by: .hours(25))
      }
      _ = try await kept.pool.transaction { session throws(DatabaseError) in
        try session.execute(
          """
          INSERT INTO purchases (app, environment, original_transaction_id, line, source, product_id, as_of, facts,
            message, precedence)
          VALUES (\(place.scope.app.number), 1, '1', '', 1, 'coins', 1, '{}', '', '')
          """)
      }
      let lost = try await check.check(place)
      guard case .lost(let reason) = lost else { throw NotLost(finding: lost) }
      #expect(reason.contains("Apple sends none"))
    }
  }

  @Test func `is lost where Apple accepts the app nowhere`() async throws {
    // To a bundle id that is not of the account.
    try await Self.inProduction(of: Refusing(sandboxCode: 4_040_003)) { _, check, place in
      let lost = try await check.check(place)
      guard case .lost = lost else { throw NotLost(finding: lost) }
    }
  }

  /// Runs `body` with the Production of an App Store that answers as `apple` does.
  private static func inProduction(
    of apple: Refusing, _ body: @escaping @Sendable (KeptUp, HeartbeatCheck, AskablePlace) async throws -> Void
  ) async throws {
    let world = MixedStory.world(customers: 0, seed: 2, start: KeptUp.start)
    try await KeptUp.with(world) { kept in
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: apple)
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let http = kept.asking("http://127.0.0.1:\(server.port)")
        let check = HeartbeatCheck(
          client: http.client, ledger: Ledger(pool: kept.pool), every: .hours(24), within: .minutes(10),
          clock: kept.clock.clock)
        try await body(kept, check, try await kept.place(.production))
        await http.end()
      }
    }
  }
}

/// Apple to a key that Production does not accept.
private struct Refusing: HTTPHandler {
  /// What the sandbox answers.
  let sandboxCode: Int64

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let refusal: JSONObject = ["errorCode": .integer(sandboxCode), "errorMessage": "No."]
    var response =
      request.path.hasPrefix("/sandbox/") ? HTTPResponse.json(404, refusal.encoded()) : HTTPResponse(status: 401)
    // The true date would make the test's clock a wrong one.
    response.headers.append("Date", "none")
    return response
  }
}

private struct NotLost: Error {
  let finding: HeartbeatCheck.Finding
}

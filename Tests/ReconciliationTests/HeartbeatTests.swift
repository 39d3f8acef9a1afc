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
      let check = HeartbeatMonitor(
        client: http.client, ledger: LedgerStore(pool: kept.pool), every: .hours(24), within: .minutes(10),
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

  private func checking(
    _ kept: KeptUp, _ body: (HeartbeatMonitor, ReconciliationTarget) async throws -> Void
  ) async throws {
    let http = kept.asking()
    let check = HeartbeatMonitor(
      client: http.client, ledger: LedgerStore(pool: kept.pool), every: .hours(24), within: .minutes(10),
      clock: kept.clock.clock)
    try await body(check, try await kept.place())
    await http.end()
  }

  @Test func `is not lost where Apple has no URL, and is when there was one`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world) { kept in
      try await checking(kept) { check, place in
        let found = try await check.check(place)
        #expect(found == .unwatched("no URL for Notifications V2 is set in App Store Connect"))
        let row = try #require(try await heartbeat(kept))
        #expect(row.lostSince == nil && row.unwatched?.contains("no URL") == true)
        #expect(try await check.check(place) == .waiting, "said once a day")
        // A V2 notification came by itself once: then a URL that is missing is an alarm.
        try await kept.pool.transaction { session throws(DatabaseError) in
          try CompletenessTable.put(
            [KeptUp.start: Completeness(expected: 1, arrived: 1)], .notifications, of: place.scope, at: KeptUp.start,
            in: session)
        }
        kept.clock.advance(by: .hours(25))
        let lost = try await check.check(place)
        guard case .lost = lost else { throw NotLost(finding: lost) }
        #expect(try await heartbeat(kept)?.unwatched == nil)
      }
    }
  }

  @Test(arguments: [true, false])
  func `is not lost where Apple sends V1 and tries to send no test, unless one came back once`(
    cameBack: Bool
  ) async throws {
    try await Self.inProduction(of: Silent()) { kept, check, place in
      let body: JSONObject = [
        "notification_type": "DID_CHANGE_RENEWAL_STATUS", "bid": .string(KeptUp.app), "environment": "PROD",
        "password": .string(AppPlan.sample(KeptUp.app).sharedSecret), "auto_renew_status": "true",
        "original_transaction_id": 1_000,
      ]
      #expect(try await kept.post(body.encoded()) == 200)
      #expect(try await kept.rowCount("inbox WHERE title LIKE 'V1 %'") == 1)
      #expect(try await check.check(place) == .asked)
      if cameBack {
        _ = try await kept.pool.transaction { session throws(DatabaseError) in
          try session.execute("UPDATE heartbeats SET watched_at = 1")
        }
      }
      kept.clock.advance(by: .minutes(11))
      let found = try await check.check(place)
      let row = try await kept.pool.read { session throws(DatabaseError) in
        try HeartbeatTable.all(in: session).first { $0.scope == place.scope }
      }
      if cameBack {
        guard case .lost = found else { throw NotLost(finding: found) }
        #expect(row?.lostSince != nil)
      } else {
        #expect(found == .unwatched("Apple sends Notifications V1 there, which have no TEST"))
        #expect(row?.lostSince == nil && row?.unwatched != nil)
      }
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
    of apple: some HTTPHandler,
    _ body: @escaping @Sendable (KeptUp, HeartbeatMonitor, ReconciliationTarget) async throws -> Void
  ) async throws {
    let world = MixedStory.world(customers: 0, seed: 2, start: KeptUp.start)
    try await KeptUp.with(world) { kept in
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(1)), handler: apple)
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let http = kept.asking("http://127.0.0.1:\(server.port)")
        let check = HeartbeatMonitor(
          client: http.client, ledger: LedgerStore(pool: kept.pool), every: .hours(24), within: .minutes(10),
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

/// Apple that takes the order of a test, and never tries to send it.
private struct Silent: HTTPHandler {
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    let answer: JSONObject = request.method == "POST" ? ["testNotificationToken": "t"] : ["sendAttempts": []]
    var response = HTTPResponse.json(200, answer.encoded())
    // The true date would make the test's clock a wrong one.
    response.headers.append("Date", "none")
    return response
  }
}

private struct NotLost: Error {
  let finding: HeartbeatMonitor.Finding
}

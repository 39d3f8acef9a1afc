@Suite struct `A comparison that meets failures` {
  /// A service that heard everything for 20 days, and nothing in the 60 after.
  ///
  /// - Parameter fault: what else happens to notifications meanwhile.
  private func withSilence(
    and fault: JSONObject? = nil, _ body: @Sendable (KeptUp) async throws -> Void
  ) async throws {
    let world = MixedStory.world(customers: 24, seed: 7, start: KeptUp.start)
    try await KeptUp.with(world, isAsking: false) { kept in
      kept.send(.v2)
      try await kept.advance(.days(20))
      try await kept.control("faults", ["fault": "dropped", "on": "notifications", "times": .null])
      if let fault { try await kept.control("faults", fault) }
      try await kept.advance(.days(60))
      try await kept.mend()
      try await body(kept)
    }
  }

  private func waiting(_ kept: KeptUp) async throws -> Int { try await kept.rowCount("work WHERE state = 0") }

  @Test func `keeps what came before a failing call, goes on with the subscriptions, and is made whole by the next`()
    async throws
  {
    try await withSilence { kept in
      let missing = try await kept.reconcile { $0.isDry = true }.takenIn
      #expect(missing > 20)
      // A week for each call; of 180 days the silence began in the 17th, and is 60 days long.
      try await kept.control(
        "faults",
        ["fault": "unauthorized", "on": "api", "operation": "getNotificationHistory", "skip": 21, "times": .null])
      let report = try await kept.reconcile()
      #expect(report.unfinished.map(\.part) == [.notifications])
      #expect((report.unfinished.first?.error as? APIError)?.code == .unauthorized)
      #expect(!report.isComplete)
      #expect(try await kept.rowCount("inbox WHERE kind = 5") == report.takenIn)
      #expect(report.takenIn > 0 && report.takenIn < missing && report.lookedUp > 0)
      // Of the subscriptions everything is known by the look-ups; of the notifications nothing is measured.
      #expect(ReconciliationReport.sum(report.renewals).missing == 0)
      #expect(try await kept.rowCount("completeness WHERE measure = 1") == 0)
      #expect(try await kept.rowCount("completeness WHERE measure = 2") > 0)
      #expect(try await kept.rowCount("reconciliations WHERE finished_until IS NOT NULL") == 0)
      try await kept.mend()
      let next = try await kept.reconcile()
      #expect(next.isComplete && next.takenIn == missing - report.takenIn)
      #expect(try await kept.rowCount("reconciliations WHERE finished_until IS NOT NULL") == 1)
      #expect(ReconciliationReport.sum(next.notifications).missing == 0)
    }
  }

  @Test func `sets aside what it cannot prove, takes the others in, and counts it`() async throws {
    let spoilt: JSONObject = ["fault": "badSignature", "on": "notifications", "percent": 30, "times": .null]
    try await withSilence(and: spoilt) { kept in
      let missing = try await kept.reconcile { $0.isDry = true }.takenIn
      let report = try await kept.reconcile()
      #expect(report.unfinished.isEmpty && report.setAside > 0 && report.takenIn > 0 && !report.isComplete)
      #expect(report.takenIn + report.setAside == missing)
      #expect(try await kept.rowCount("quarantine WHERE code = 'badSignature'") == report.setAside)
      #expect(ReconciliationReport.sum(report.notifications).refused == report.setAside)
      // Known to be refused, it is no news.
      let next = try await kept.reconcile()
      #expect(next.takenIn == 0 && next.setAside == report.setAside && !next.isComplete)
      #expect(ReconciliationReport.sum(next.notifications).refused == report.setAside)
    }
  }

  @Test func `sets aside what is no notification at all`() async throws {
    let world = MixedStory.world(customers: 0, seed: 1, start: KeptUp.start)
    try await KeptUp.with(world, isAsking: false) { kept in
      let items: [JSONValue] = [
        ["signedPayload": "garbage", "sendAttempts": []], ["sendAttempts": []],
        ["signedPayload": "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "sendAttempts": []],
      ]
      let apple = OnePage(["hasMore": false, "notificationHistory": .array(items)])
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: apple)
      try server.start()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let report = try await kept.reconcile(at: "http://127.0.0.1:\(server.port)")
        #expect(report.unfinished.isEmpty && report.takenIn == 0 && report.setAside == 3)
        #expect(try await kept.rowCount("quarantine") == 3)
      }
    }
  }

  /// Tells of the same notifications once: in the first of the windows that are asked for.
  private final class OnePage: HTTPHandler {
    private let page: JSONObject
    private let isTold = Atomic(false)

    init(_ page: JSONObject) { self.page = page }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      let none: JSONObject = ["hasMore": false, "notificationHistory": []]
      return .json(200, (isTold.exchange(true, ordering: .relaxed) ? none : page).encoded())
    }
  }

  @Test func `leaves the look-ups to whoever has time when Apple cannot be reached`() async throws {
    try await withSilence { kept in
      let report = try await kept.reconcile(at: "http://127.0.0.1:1")
      #expect(report.unfinished.map(\.part) == [.notifications])
      #expect((report.unfinished.first?.error as? APIError)?.code == .unreachable)
      #expect(report.pending > 0 && report.lookedUp == 0 && !report.isComplete)
      #expect(try await waiting(kept) == report.pending)
      // Put off by at most a minute: then the next asks about them, and not twice.
      kept.clock.advance(by: .minutes(2))
      let next = try await kept.reconcile { $0.quiet = .days(0) }
      #expect(next.pending == 0 && next.isComplete)
      #expect(try await waiting(kept) == 0)
      #expect(ReconciliationReport.sum(next.renewals).missing == 0)
    }
  }

  @Test func `waits for look-ups of others, and not for ever`() async throws {
    try await withSilence { kept in
      let pending = try await kept.reconcile(at: "http://127.0.0.1:1").pending
      kept.clock.advance(by: .minutes(2))
      let (scope, now) = (try await kept.place().scope, kept.clock.clock.now())
      let leased = try await kept.pool.transaction { session throws(DatabaseError) in
        try HistoryJobTable.lease(
          HistoryJobTable.Selection(scope), limit: 1_000, until: now + .minutes(15),
          owner: [UInt8](repeating: 1, count: 16), at: now, in: session
        ).customers
      }
      #expect(leased.count == pending)
      let report = try await kept.reconcile {
        $0.patience = .milliseconds(0)
        $0.quiet = .days(0)
      }
      #expect(report.pending >= pending && report.unfinished.isEmpty)
      // Its process was killed: whoever comes after the lease's end asks.
      kept.clock.advance(by: .minutes(15))
      let next = try await kept.reconcile { $0.quiet = .days(0) }
      #expect(next.pending == 0 && next.lookedUp >= pending)
    }
  }

  @Test func `only of failures takes in what no server took, and measures nothing`() async throws {
    try await withSilence { kept in
      let sent = try await kept.reconcile { $0.isDry = true }
      let failed = try await kept.reconcile {
        ($0.isDry, $0.onlyFailures) = (true, true)
      }
      let (all, some) = (
        ReconciliationReport.sum(sent.notifications), ReconciliationReport.sum(failed.notifications)
      )
      #expect(failed.takenIn == sent.takenIn && some.expected < all.expected && some.arrived == 0)
      let report = try await kept.reconcile { $0.onlyFailures = true }
      #expect(report.takenIn == failed.takenIn && report.lookedUp == 0 && report.isComplete)
      #expect(try await kept.rowCount("completeness") == 0)
      #expect(try await kept.rowCount("reconciliations") == 0)
      #expect(try await kept.reconcile { $0.onlyFailures = true }.takenIn == 0)
    }
  }
}

@Suite struct `The old back end of a compared app` {
  /// Takes everything.
  private final class BackEnd: HTTPHandler {
    private let bodies = Mutex<[[UInt8]]>([])

    var heard: [[UInt8]] { bodies.withLock { $0 } }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
      bodies.withLock { $0.append(request.body) }
      return HTTPResponse(status: 200)
    }
  }

  @Test func `hears once what no server took, also when Apple delivers it later, and nothing that it took itself`()
    async throws
  {
    let world = MixedStory.world(customers: 8, seed: 7, start: KeptUp.start)
    try await KeptUp.with(world, isAsking: false) { kept in
      let backEnd = BackEnd()
      let server = HTTPServer(HTTPServerConfiguration(port: 0, stopWithin: .seconds(2)), handler: backEnd)
      try server.start()
      let url = "http://127.0.0.1:\(server.port)/apple"
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run() }
        defer { group.cancelAll() }
        let (scope, now) = (try await kept.place().scope, kept.clock.clock.now())
        try await kept.pool.transaction { session throws(DatabaseError) in
          try DestinationTable.setLegacy(url, of: scope, at: now, in: session)
        }
        kept.send(.v2, to: url)
        try await kept.advance(.days(30))
        let taken = backEnd.heard
        // Nobody listens there.
        kept.send(.v2, to: "http://127.0.0.1:1/apple")
        try await kept.advance(.days(30))
        let report = try await kept.reconcile()
        let lost = try await kept.rowCount("outbox")
        #expect(!taken.isEmpty && lost > 0 && report.takenIn == taken.count + lost)
        let hasHeard = await eventually { backEnd.heard.count == taken.count + lost }
        #expect(hasHeard && Set(backEnd.heard).count == taken.count + lost)
        // Apple tries once more, and it arrives here after all.
        for body in Set(backEnd.heard).subtracting(taken) { #expect(try await kept.post(body) == 200) }
        #expect(try await kept.rowCount("outbox") == lost)
        #expect(try await kept.reconcile().takenIn == 0)
        #expect(backEnd.heard.count == taken.count + lost)
      }
    }
  }
}

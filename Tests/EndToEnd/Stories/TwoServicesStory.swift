/// Services that share a ledger: one is killed, one is stopped.
@Suite struct TwoServicesStory {
  private static let app = "com.example.stopped"
  private static let (customers, perCustomer) = (6, 8)

  @Test func `forward each message once, and ask Apple about every customer though one is killed`() async throws {
    try await LimitedSite.with(customers: 240, limit: 40) { site in
      try await Inbox.with { inbox, url in
        let (program, app) = (site.database.program, SignedFixtures.bundleID)
        #expect(try await program.run("app", "add", app).status == 0)
        let named = try await program.run("app", "legacy-url", app, url, "--environment", "Sandbox")
        #expect(named.status == 0, "\(named)")
        let services = [try await site.serve(), try await site.serve()]
        let messages = try Self.messages(of: site)
        try await notify(services, messages, site)
        let sent = Self.customers * Self.perCustomer
        #expect(await eventually { inbox.posts.count == sent }, "\(inbox.posts.count) of \(sent) heard")
        // The history jobs are due when all of them are there, so that a slow machine leaves enough of them.
        try await site.database.run("CREATE TRIGGER later BEFORE INSERT ON work FOR EACH ROW SET NEW.due_at = 1 << 42")
        try await site.handIn(to: services)
        try await site.database.run("DROP TRIGGER later")
        try await site.database.execute("UPDATE work SET due_at = 1")
        let (leased, twice) = try await site.loseServices(services)
        #expect(leased > 0)
        #expect(twice <= leased)
        #expect(inbox.posts.count == sent)
        #expect(inbox.repeats == 0, "messages came again")
        // The messages of each customer came in the order of their arrival here.
        for bodies in messages {
          let heard = inbox.posts.map(\.body).filter(bodies.contains)
          #expect(heard == bodies)
        }
      }
    }
  }

  /// Posts the notifications of each customer to one service and the other in turn, as a load balancer does.
  private func notify(
    _ services: [RunningProgram], _ messages: [[[UInt8]]], _ site: LimitedSite
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for bodies in messages {
        group.addTask {
          for (number, body) in bodies.enumerated() {
            let request = ClientRequest(method: "POST", url: services[number % 2].url + "/notifications", body: body)
            let answer = try await site.http.send(request)
            #expect(answer.status == 200)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The notifications of each customer.
  private static func messages(of site: LimitedSite) throws -> [[[UInt8]]] {
    let fixtures = try SignedFixtures(site.apple.store.identity.chains.pki)
    return try (0..<customers).map { customer in
      let id = JSONValue.string("20000000\(customer)")
      var transaction = fixtures.transaction
      transaction["transactionId"] = id
      transaction["originalTransactionId"] = id
      return try (0..<perCustomer).map { number in
        var notification = try fixtures.notification(uuid: "\(customer)/\(number)")
        var data = notification["data"]?.object ?? [:]
        data["signedTransactionInfo"] = .string(try fixtures.jws(transaction))
        data["signedRenewalInfo"] = nil
        notification["data"] = .object(data)
        return try fixtures.body(notification)
      }
    }
  }

  @Test func `release at SIGTERM all that they have claimed, and answer callers that wait`() async throws {
    try await RunningSimulator.market([Self.app], customers: 80) { apple in
      let database = try await TestDatabase.migrated()
      try await apple.register(Self.app, database.program)
      let token = try await database.program.run("app", "token", Self.app).output.split(separator: "\n").first ?? ""
      let ids = try await database.addWork(apple)
      let id = try #require(ids.first)
      try await database.execute("DELETE FROM work WHERE subject = \(id)")
      try await apple.control("fault", "fault=slow", "value=60000", "on=api", "times=null")
      // A service asks Apple for a TEST notification before it compares the history of notifications.
      let services = [
        try await RunningProgram.serve(database.program, apple.trust + ["--reconcile-every", "0"]),
        try await RunningProgram.serve(database.program, apple.trust + ["--heartbeat-every", "0"]),
      ]
      let request = ClientRequest(
        method: "POST", url: "\(services[0].url)/v1/evidence?wait=20", headers: [("Authorization", "Bearer \(token)")],
        body: (["originalTransactionId": .string(id), "environment": "Sandbox"] as JSONObject).encoded(),
        deadline: .seconds(90))
      let client = HTTPClient()
      let waiting = Task { try await client.send(request) }
      let isBusy = try await eventually(within: .seconds(90)) {
        let counts = [
          try await database.count("work WHERE owner IS NOT NULL") - 5, try await database.count("reconciliations"),
          try await database.count("heartbeats"), try await database.count("work WHERE subject = \(id)"),
        ]
        return counts.allSatisfy { $0 > 0 }
      }
      #expect(isBusy)
      for service in services {
        #expect(await service.end(SIGTERM) == 0, "\(service.notes)")
        #expect(!service.notes.contains("requests unfinished"), "\(service.notes)")
      }
      let answer = try await waiting.value
      await client.shutdown()
      #expect(answer.status == 200)
      #expect(try JSONReader.read(answer.body).object?["history"] == "waiting")
      try await expectReleased(database)
    }
  }

  private func expectReleased(_ database: TestDatabase) async throws {
    #expect(try await database.count("work WHERE owner IS NOT NULL") == 0)
    let (day, now) = (Interval.hours(24).milliseconds, WallClock.system.now().sinceEpoch)
    let claims = try await database.rows("SELECT claimed_at FROM reconciliations")
    #expect(!claims.isEmpty)
    for claim in claims { #expect(try claim.int64("claimed_at") + day <= now, "not due immediately") }
    // A TEST notification that Apple was not asked for yet.
    let heartbeat = try #require(try await database.rows("SELECT asked_at, due_by, lost_since FROM heartbeats").first)
    #expect(try heartbeat.int64("asked_at") + day <= now)
    #expect(try heartbeat.int64("due_by") <= now)
    #expect(try heartbeat.optionalInt64("lost_since") == nil, "Apple did not refuse it")
  }
}

extension TestDatabase {
  /// Adds a history job for every customer of the App Store, and returns their IDs.
  @discardableResult
  func addWork(_ apple: RunningSimulator) async throws -> [String] {
    let lines = try await apple.control("truth")
    let ids = Set(lines.compactMap { $0["transaction"]?.object?["originalTransactionId"]?.string }).sorted()
    for id in ids {
      try await execute(
        """
        INSERT IGNORE INTO work (app, environment, kind, subject, state, created_at, due_at)
        SELECT id, 2, 1, \(id), 0, 1, 1 FROM apps
        """)
    }
    return ids
  }
}

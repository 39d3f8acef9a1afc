/// For `scripts/soak forwarding`: an outage ends while messages wait, another server hangs, and the service is killed.
@Suite(.soak) struct BacklogSoak {
  private static let waiting = Program.setting("SWITCHYARD_SOAK_WAITING") ?? 200_000
  private static let customers = Program.setting("SWITCHYARD_SOAK_WAITING_CUSTOMERS") ?? 50_000
  private static let app = "com.example.backlog"

  @Test func `a backlog is forwarded in order per customer across kill -9 while another server hangs`() async throws {
    let database = try await TestDatabase.migrated()
    let program = database.program
    #expect(try await program.run("app", "add", Self.app).status == 0)
    let hanging = try SilentListener()
    try await Inbox.with { inbox, url in
      for (environment, host) in [("Sandbox", url), ("Production", "http://127.0.0.1:\(hanging.port)")] {
        let named = try await program.run(
          "app", "legacy-url", Self.app, host + "/apple", "--environment", environment)
        #expect(named.status == 0, "\(named)")
      }
      try await Self.fill(database, .sandbox, Self.waiting, customers: Self.customers)
      try await Self.fill(database, .production, Self.waiting / 10, customers: Self.customers / 10)
      let first = try await RunningProgram.serve(program, [])
      #expect(await eventually { inbox.posts.count > Self.waiting / 3 }, "\(inbox.posts.count) heard")
      await first.end(SIGKILL)
      let heardBefore = inbox.posts.count
      #expect(heardBefore < Self.waiting, "killed too late")
      // The leases of the outbox end after a minute.
      try await database.execute("UPDATE outbox SET due_at = created_at WHERE state = 0")
      let second = try await RunningProgram.serve(program, [])
      let start = ContinuousClock.now
      let isHeard = await eventually(within: .seconds(Int64(60 + Self.waiting / 100))) {
        inbox.posts.count == Self.waiting
      }
      let took = (ContinuousClock.now - start) / .seconds(1)
      #expect(isHeard, "\(inbox.posts.count) of \(Self.waiting) heard")
      print("a backlog of \(Self.waiting): \(Int(Double(Self.waiting - heardBefore) / took)) messages a second")
      #expect(await second.end(SIGTERM) == 0)
      #expect(inbox.repeats < 1_000, "more than what was being sent when the service was killed")
      expectOrder(inbox)
    }
    #expect(try await database.waiting(for: hanging.port) == Self.waiting / 10)
    hanging.close()
  }

  /// Stores messages for the destination as the service does, of each customer in turn.
  ///
  /// The body of a message is `ENVIRONMENT CUSTOMER/NUMBER`.
  private static func fill(
    _ database: TestDatabase, _ environment: Environment, _ count: Int, customers: Int
  ) async throws {
    let pool = Pool(database.configuration)
    let (ledger, now) = (LedgerStore(pool: pool), WallClock.system.now())
    let found = try await pool.read { session throws(DatabaseError) in try AppTable.find(Self.app, in: session) }
    let known = try #require(found)
    let scope = AppScope(app: known.id, environment: environment)
    for start in stride(from: 0, to: count, by: 500) {
      let entries = (start..<min(start + 500, count)).map { number in
        let (customer, place) = (number % customers, number / customers)
        let message = InboxMessage(
          kind: .notification, body: Array("\(environment.rawValue) \(customer)/\(place)".utf8), receivedAt: now)
        var findings = Findings(app: Self.app, environment: environment)
        findings.links = [
          CustomerLink(
            app: Self.app, environment: environment, .originalTransactionID("\(customer)"),
            .appTransactionID("7\(customer)"))
        ]
        return LedgerEntry(
          message,
          .accepted(
            LedgerEntry.AcceptedMessage(app: known.id, findings: findings, signedAt: now, title: "backlog")),
          addressee: .init(scope, epoch: nil, at: now, proof: .proven))
      }
      #expect(try await ledger.append(entries).allSatisfy { $0 == .stored })
    }
    await pool.close()
  }

  private func expectOrder(_ inbox: Inbox) {
    var next: [Substring: Int] = [:]
    var disorder: [String] = []
    for post in inbox.posts {
      let text = String(decoding: post.body, as: UTF8.self)
      let parts = text.split(separator: "/")
      if next[parts[0], default: 0] != Int(parts[1]) { disorder.append(text) }
      next[parts[0], default: 0] += 1
    }
    #expect(disorder.prefix(5) == [])
  }
}

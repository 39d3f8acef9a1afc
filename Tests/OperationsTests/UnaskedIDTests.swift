/// Ids of bulk migrations as evidence for a later stage.
@Suite struct `Ids of bulk migrations that Apple was not asked about` {
  private let now = Operated.now
  private let kim = Operated.kim

  /// A running job with ids in these states of `migration_ids`.
  private func job(_ here: Operated, _ ids: [(id: String, environment: Int, state: Int)]) async throws -> Int {
    try await here.connection.transaction { [now] session throws(DatabaseError) in
      let job = try MigrationJobTable.add(
        [.init(source: "{}", size: nil)], app: here.app, environment: .sandbox, settings: MigrationSettings(),
        by: "kim", at: now, in: session)
      for (id, environment, state) in ids {
        _ = try session.execute(
          """
          INSERT INTO migration_ids (job, app, environment, id, state, priority)
          VALUES (\(job), \(here.app.id.number), \(environment), \(id), \(state), 0)
          """)
      }
      return job
    }
  }

  private func work(_ here: Operated, _ id: String, _ state: HistoryJobTable.State) async throws {
    try await here.execute(
      """
      INSERT INTO work (app, environment, kind, subject, state, created_at, due_at)
      VALUES (\(here.app.id.number), 2, \(HistoryJobTable.Kind.history.rawValue), \(id), \(state.rawValue), \(now), 1)
      """)
  }

  @Test func `are missing while they are not handed out, or handed out a moment ago`() async throws {
    let here = try await Operated()
    try await here.execute(
      "INSERT INTO credentials (app, kind, name, issuer, sealed, created_at) VALUES (\(here.app.id.number), \(CredentialTable.Kind.apiKey.rawValue), 'a', '', 'x', 1)"
    )
    // Handed out and waiting, handed out and answered, not handed out, of nobody knows which environment, of another one.
    let ids = [("1", 2, 1), ("2", 2, 1), ("3", 2, 0), ("4", 0, 0), ("5", 1, 0), ("6", 2, 0)]
    _ = try await job(here, ids.map { (id: $0, environment: $1, state: $2) })
    try await work(here, "1", .waiting)
    try await work(here, "2", .done)
    // It arrived otherwise, too.
    try await work(here, "6", .unknown)
    let advance = AdvanceRollout(Operated.bundleID, in: .sandbox)
    try await here.execute("UPDATE flags SET stage = 'shadow'")
    let plan = try await advance.plan(at: now, on: here.connection)
    #expect(plan.evidence.ids.migrating == 3 && plan.evidence.ids.cancelled == 0, "\(plan.evidence)")
    #expect(plan.evidence.ids.unreadParts == 1)
    let missing = try #require(plan.missing.first { $0.name == "ids" })
    #expect(missing.text.contains("3 ids of bulk migrations, and 1 parts"), "\(missing.text)")
    #expect(missing.next(Operated.bundleID, "Sandbox").contains("--accept-unknown-ids"), "Apple does not know one")
    let accept = AcceptUnknownIDs(of: Operated.bundleID, in: .sandbox)
    try await here.expect("rollout.decide com.example.app Sandbox: 1 unknown ids accepted: ticket 4") {
      try await accept.plan(on: here.connection)
    } apply: {
      try await accept.apply($0, by: kim, at: now, on: here.connection)
    }
    let rest = try await advance.plan(at: now, on: here.connection).missing.first { $0.name == "ids" }
    #expect(rest?.next(Operated.bundleID, "Sandbox") == "switchyard migrate status")
    // The one that waits counts among the seeds when it has waited for long.
    let later = try await advance.plan(at: now + .minutes(20), on: here.connection).evidence
    #expect(later.ids.migrating == 2 && later.ids.waiting == 1, "\(later)")
  }

  @Test func `are not all known while a part is not read, of the app's own environment or of any`() async throws {
    let here = try await Operated()
    _ = try await job(here, [])
    try await here.execute("UPDATE flags SET stage = 'shadow'")
    func missing(_ environment: Environment) async throws -> MissingEvidence? {
      try await AdvanceRollout(Operated.bundleID, in: environment).plan(at: now, on: here.connection).missing
        .first { $0.name == "ids" }
    }
    var ids = OpenIDs()
    ids.unreadParts = 1
    #expect(try await missing(.sandbox) == .ids(ids))
    #expect(try await missing(.production) == nil)
    try await here.execute("UPDATE migration_jobs SET app = NULL, environment = NULL")
    #expect(try await missing(.production) == .ids(ids))
    try await here.execute("UPDATE migration_parts SET state = 1")
    #expect(try await missing(.sandbox) == nil)
  }

  @Test func `are named when their job is cancelled, and missing until they are asked about or decided`() async throws {
    let here = try await Operated()
    let ids = [("1", 2, 1), ("2", 2, 0), ("3", 2, 0)].map { (id: $0.0, environment: $0.1, state: $0.2) }
    let (id, advance) = (try await job(here, ids), AdvanceRollout(Operated.bundleID, in: .sandbox))
    try await here.execute("UPDATE flags SET stage = 'shadow'")
    try await work(here, "1", .done)
    let cancel = ChangeMigration(.cancel, of: id)
    let cancelled = try await cancel.apply(
      cancel.plan(on: here.connection), by: kim, at: now, on: here.connection)
    #expect(cancelled.state == .cancelled)
    let record = try await MigrationRecord.find(id, at: now, here.connection)
    #expect(record.unasked == 2)
    let rest = try #require(record.rest)
    #expect(rest.contains("2 ids, and 1 of 1 parts") && rest.contains("switchyard migrate report \(id)"), "\(rest)")

    let plan = try await advance.plan(at: now, on: here.connection)
    #expect(plan.evidence.ids.cancelled == 2 && plan.evidence.ids.migrating == 0, "\(plan.evidence)")
    let missing = try #require(plan.missing.first { $0.name == "ids" })
    #expect(missing.next(Operated.bundleID, "Sandbox") == "switchyard migrate report \(id)")
    // Another job, or a client, brought it to its end.
    try await work(here, "2", .done)
    #expect(try await advance.plan(at: now, on: here.connection).evidence.ids.cancelled == 1)
    let accept = AcceptUnknownIDs(.cancelled, of: Operated.bundleID, in: .sandbox)
    try await here.expect(
      "rollout.decide com.example.app Sandbox: 1 ids of cancelled migrations accepted: ticket 4"
    ) {
      let plan = try await accept.plan(on: here.connection)
      #expect(plan.ids == 1)
      return plan
    } apply: {
      try await accept.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(try await advance.plan(at: now, on: here.connection).evidence.ids.cancelled == 0)
  }
}

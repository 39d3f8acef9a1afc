@Suite struct `An operation on the rollout and the seeds` {
  private let now = Operated.now
  private let kim = Operated.kim

  @Test func `sets the stage of one environment, unless something it needs is missing`() async throws {
    let here = try await Operated()
    let set = SetStage(.legacy, of: Operated.bundleID, in: .sandbox)
    try await here.expectRefusal(StageRefused.self) { _ = try await set.plan(at: now, on: here.connection) }
    let forwarding = SetLegacyURL("https://old.example.com/", of: Operated.bundleID, in: .sandbox)
    try await forwarding.apply(forwarding.plan(on: here.connection), by: kim, at: now, on: here.connection)
    let early = try await set.plan(at: now, on: here.connection)
    #expect(early.map(\.move.changesAnything) == [true])
    try await here.expect("rollout.back com.example.app Sandbox: record to legacy: ticket 4") {
      try await set.plan(at: now, on: here.connection)
    } apply: {
      try await set.apply($0, by: kim, at: now, on: here.connection)
    }
    // A plan of before: somebody else came first.
    try await here.expectRefusal(DatabaseError.self) {
      try await set.apply(early, by: kim, at: now, on: here.connection)
    }
    let again = try await set.plan(at: now, on: here.connection)
    #expect(again.map(\.move.changesAnything) == [false])
    let before = try await here.contents()
    try await set.apply(again, by: kim, at: now, on: here.connection)
    #expect(try await here.contents() == before)
  }

  @Test func `changes no environment when one may not be changed`() async throws {
    let here = try await Operated()
    let forwarding = SetLegacyURL("https://old.example.com/", of: Operated.bundleID, in: .sandbox)
    try await forwarding.apply(forwarding.plan(on: here.connection), by: kim, at: now, on: here.connection)
    try await here.expectRefusal(StageRefused.self) {
      _ = try await SetStage(.legacy, of: Operated.bundleID).plan(at: now, on: here.connection)
    }
  }

  @Test func `answers from the ledger when it is forced to, and the audit says so`() async throws {
    let here = try await Operated()
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox)
    try await here.expectRefusal(StageRefused.self) { _ = try await live.plan(at: now, on: here.connection) }
    let forced = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await here.expect("rollout.set com.example.app Sandbox: record to live, forced: ticket 4") {
      try await forced.plan(at: now, on: here.connection)
    } apply: {
      try await forced.apply($0, by: kim, at: now, on: here.connection)
    }
    let back = SetStage(.record, of: Operated.bundleID, in: .sandbox)
    try await here.expect("rollout.back com.example.app Sandbox: live to record: ticket 4") {
      try await back.plan(at: now, on: here.connection)
    } apply: {
      try await back.apply($0, by: kim, at: now, on: here.connection)
    }
  }

  @Test func `completes only with a secret and a key, which it keeps then`() async throws {
    let here = try await Operated()
    let complete = SetStage(.complete, of: Operated.bundleID, forced: true)
    func refusal() async throws -> TransitionError.Code? {
      do { _ = try await complete.plan(at: now, on: here.connection) } catch let refused as StageRefused {
        return refused.refusal.code
      }
      return nil
    }
    func put(_ kind: CredentialTable.Kind) async throws {
      try await here.execute(
        """
        INSERT INTO credentials (app, kind, name, issuer, sealed, created_at)
        VALUES (\(here.app.id.number), \(kind.rawValue), '1f0c2b3a', '', 'x', 1)
        """)
    }
    #expect(try await refusal() == .noSharedSecret)
    try await put(.sharedSecret)
    #expect(try await refusal() == .noAPIKey)
    try await put(.apiKey)
    let plan = try await complete.plan(at: now, on: here.connection)
    #expect(plan.map(\.move.isForced) == [true, true])
    try await complete.apply(plan, by: kim, at: now, on: here.connection)
    try await here.expectRefusal(CompleteNeedsSecret.self) {
      _ = try await RetireSharedSecret("1f0c2b3a", of: Operated.bundleID).plan(on: here.connection)
    }
  }

  @Test func `asks anew about ids that failed`() async throws {
    let here = try await Operated()
    for (subject, state) in [("1", HistoryJobTable.State.failed), ("2", .unknown), ("3", .done)] {
      try await here.execute(
        """
        INSERT INTO work (app, environment, kind, subject, state, created_at, due_at)
        VALUES (\(here.app.id.number), 2, \(HistoryJobTable.Kind.history.rawValue), \(subject), \(state.rawValue), 1, 1)
        """)
    }
    let retry = RetryHistoryJobs(of: Operated.bundleID, [.failed, .done])
    let count = try await here.expect("seeds.retry com.example.app 1 ids: ticket 4") {
      let plan = try await retry.plan(on: here.connection)
      #expect(plan.ids == 1)
      return plan
    } apply: {
      try await retry.apply($0, by: kim, at: now, on: here.connection)
    }
    #expect(count == 1)
    #expect(try await retry.plan(on: here.connection).ids == 0)
    try await here.expectRefusal(NoSuchApp.self) {
      _ = try await RetryHistoryJobs(of: "com.example.none", [.failed]).plan(on: here.connection)
    }
  }
}

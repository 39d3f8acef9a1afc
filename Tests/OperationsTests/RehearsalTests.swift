/// A rehearsal of a rollback beside other changes of the stage.
@Suite struct `A rehearsed rollback` {
  private let now = Operated.now
  private let kim = Operated.kim

  private func stage(_ here: Operated) async throws -> Stage? {
    try await here.connection.read { session throws(DatabaseError) in
      try FlagTable.all(in: session)[Scope(app: here.app.id, environment: .sandbox)]?.stage
    }
  }

  private func epoch(_ here: Operated) async throws -> Int64 {
    try await here.connection.read { session throws(DatabaseError) in
      try FlagTable.all(in: session)[Scope(app: here.app.id, environment: .sandbox)]?.epoch ?? 0
    }
  }

  /// Begins a rehearsal in a process of its own and a service that has not followed; runs `change` once the app is
  /// in `shadow`, then has the service follow.
  ///
  /// - Parameters:
  ///   - stage: of the app; in `shadow` the rehearsal does not change it.
  ///   - link: by which the rehearsal reaches the database.
  ///   - isCancelled: whether the rehearsal is cancelled before the service follows.
  private func rehearsing(
    _ here: Operated, in stage: Stage = .live, through link: LossyLink? = nil, isCancelled: Bool = false,
    _ change: (UInt64) async throws -> Void = { _ in }
  ) async throws -> Result<Void, any Error> {
    let set = SetStage(stage, of: Operated.bundleID, in: .sandbox, forced: true)
    try await set.apply(set.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    let epoch = try await epoch(here)
    let process = [UInt8](repeating: 7, count: 16)
    try await follow(by: process, mark: 0, here)
    var impatient = link?.configuration ?? here.configuration
    impatient.lockWaitTimeout = .seconds(1)
    let other = try await Connection.open(impatient)
    let result = try await withThrowingTaskGroup(of: Void.self) { [kim, now] group in
      group.addTask {
        let drill = RehearseRollback(Operated.bundleID, in: .sandbox)
        _ = try await drill.apply(drill.plan(on: other), by: kim, clock: .fixed(at: now), on: other)
      }
      #expect(try await eventually { try await self.epoch(here) == epoch + 1 })
      #expect(try await self.stage(here) == .shadow)
      try await change(await other.id)
      if isCancelled { group.cancelAll() } else { try await follow(by: process, mark: 1_000, here) }
      return await group.nextResult() ?? .success(())
    }
    await other.close()
    return result
  }

  private func follow(by process: [UInt8], mark: Int64, _ here: Operated) async throws {
    try await here.connection.read { session throws(DatabaseError) in
      let service = ProcessTable.Service(process: process, name: nil, version: nil)
      try ProcessTable.note(service, mark: mark, in: session)
      // It reports only once, and the test may outlast the silence a service is allowed.
      _ = try session.execute("UPDATE processes SET seen_at = seen_at + 600000 WHERE process = \(process)")
    }
  }

  @Test func `leaves the stage as it was`() async throws {
    let here = try await Operated()
    try await rehearsing(here).get()
    #expect(try await stage(here) == .live)
    #expect(try await here.audit().last?.hasPrefix("rollout.drill ") == true)
  }

  @Test func `that is cancelled leaves the stage as it was, and no evidence`() async throws {
    let here = try await Operated()
    let result = try await rehearsing(here, isCancelled: true)
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(try await stage(here) == .live)
    let audit = try await here.audit()
    #expect(!audit.contains { $0.hasPrefix("rollout.drill ") })
  }

  /// A frozen service would otherwise have followed as soon as it is not counted any more.
  @Test func `fails when a service falls silent, and leaves no evidence`() async throws {
    let here = try await Operated()
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await live.apply(live.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    let frozen = [UInt8](repeating: 8, count: 16)
    try await follow(by: [UInt8](repeating: 7, count: 16), mark: 1_000, here)
    try await follow(by: frozen, mark: 0, here)
    let other = try await Connection.open(here.configuration)
    let result = try await withThrowingTaskGroup(of: Void.self) { [kim, now] group in
      group.addTask {
        let drill = RehearseRollback(Operated.bundleID, in: .sandbox, within: .minutes(5))
        _ = try await drill.apply(drill.plan(on: other), by: kim, clock: .fixed(at: now), on: other)
      }
      #expect(try await eventually { try await stage(here) == .shadow })
      try await here.connection.read { session throws(DatabaseError) in
        _ = try session.execute("UPDATE processes SET seen_at = seen_at - 616000 WHERE process = \(frozen)")
      }
      // Another one that comes in its place does not make up for it.
      try await follow(by: [UInt8](repeating: 9, count: 16), mark: 1_000, here)
      return await group.nextResult() ?? .success(())
    }
    await other.close()
    let failure = #expect(throws: RehearsalFailed.self) { try result.get() }
    #expect(failure?.description.contains("fell silent") == true)
    #expect(try await stage(here) == .live)
    let audit = try await here.audit()
    #expect(!audit.contains { $0.hasPrefix("rollout.drill ") })
  }

  @Test func `waits for no service that stops meanwhile`() async throws {
    let here = try await Operated()
    let stopped = [UInt8](repeating: 8, count: 16)
    try await follow(by: stopped, mark: 0, here)
    let result = try await rehearsing(here) { _ in
      try await here.connection.read { session throws(DatabaseError) in
        try ProcessTable.remove(stopped, in: session)
      }
    }
    try result.get()
    #expect(try await stage(here) == .live)
    #expect(try await here.audit().contains { $0.contains("Sandbox: 1 processes, back in") })
  }

  @Test func `does not undo a kill`() async throws {
    let here = try await Operated()
    let result = try await rehearsing(here) { _ in
      try await StopAnswering(of: nil).apply(by: kim, at: now, on: here.connection)
    }
    #expect(throws: RehearsalFailed.self) { try result.get() }
    #expect(try await stage(here) == .shadow)
  }

  @Test func `does not undo a stage that was set`() async throws {
    let here = try await Operated()
    let result = try await rehearsing(here) { _ in
      let record = SetStage(.record, of: Operated.bundleID, in: .sandbox)
      try await record.apply(record.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    }
    #expect(throws: RehearsalFailed.self) { try result.get() }
    #expect(try await stage(here) == .record)
  }
  @Test func `puts the stage back although somebody holds the app's row for a while`() async throws {
    let here = try await Operated()
    let other = try await Connection.open(here.configuration)
    let result = try await rehearsing(here) { _ in
      try await other.read { session throws(DatabaseError) in
        // The server ends it after three seconds; a try waits for one.
        try session.run("SET SESSION wait_timeout = 3 /*M!100300 , idle_transaction_timeout = 3 */")
        try session.run("START TRANSACTION")
        _ = try session.query("SELECT stage FROM flags LOCK IN SHARE MODE")
      }
    }
    await other.close()
    try result.get()
    #expect(try await stage(here) == .live)
  }

  @Test func `puts the stage back by another connection where its own broke, and does not count`() async throws {
    let here = try await Operated()
    let result = try await rehearsing(here) { rehearsal in
      try await here.connection.read { session throws(DatabaseError) in
        try session.run("KILL \(digits: Int64(rehearsal))")
      }
    }
    let failure = #expect(throws: RehearsalFailed.self) { try result.get() }
    #expect(failure?.description.hasSuffix("the stage was put back to live") == true)
    #expect(try await stage(here) == .live)
    let audit = try await here.audit()
    #expect(!audit.contains { $0.hasPrefix("rollout.drill ") })
  }

  @Test(arguments: [LossyLink.Loss.request, .answer])
  func `finds out whether the stage is back where the answer to the commit is lost`(loss: LossyLink.Loss) async throws {
    let here = try await Operated()
    let link = LossyLink(to: here.configuration, losing: [])
    defer { link.end() }
    try await rehearsing(here, through: link) { _ in link.lose([loss]) }.get()
    #expect(link.lost == 1)
    #expect(try await stage(here) == .live)
    #expect(try await here.audit().count { $0.hasPrefix("rollout.drill.end ") } == 1)
    #expect(try await here.audit().last?.hasPrefix("rollout.drill ") == true)
  }

  @Test func `of an app in shadow does not count when somebody kills the app meanwhile`() async throws {
    let here = try await Operated()
    let result = try await rehearsing(here, in: .shadow) { _ in
      try await StopAnswering(of: nil).apply(by: kim, at: now, on: here.connection)
    }
    #expect(throws: RehearsalFailed.self) { try result.get() }
    #expect(try await stage(here) == .shadow)
    let audit = try await here.audit()
    #expect(!audit.contains { $0.hasPrefix("rollout.drill ") })
  }

  @Test func `that cannot put the stage back says what to look at and what to do`() async throws {
    let here = try await Operated()
    let ramp = SetStage(.ramp, at: RampShare(hundredths: 1_250), of: Operated.bundleID, in: .sandbox, forced: true)
    try await ramp.apply(ramp.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    let drill = RehearseRollback(Operated.bundleID, in: .sandbox)
    let standing = try await drill.plan(on: here.connection)
    let lost = RehearsalFailed(notPutBack: standing, DatabaseError(.connectionLost, "gone")).description
    #expect(lost.hasPrefix("com.example.app IS STILL IN shadow, unless somebody has changed it since; "))
    #expect(lost.contains("`switchyard rollout history com.example.app --environment Sandbox` is rollout.drill.begin"))
    let command = "rollout set com.example.app ramp --percent 12.5 --environment Sandbox --force --reason"
    #expect(lost.contains(command), "\(lost)")
    let unknown = RehearsalFailed(notPutBack: standing, DatabaseError(.commitOutcomeUnknown, "")).description
    #expect(unknown.hasPrefix("it is not known whether com.example.app is in ramp 12.5 % again; "), "\(unknown)")
  }
}

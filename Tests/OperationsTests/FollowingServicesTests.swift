@Suite struct `Services that follow a change of the stage` {
  private let now = Operated.now
  private let kim = Operated.kim

  private func note(_ process: UInt8, mark: Int64, _ here: Operated) async throws {
    try await here.connection.read { session throws(DatabaseError) in
      let service = ProcessTable.Service(
        process: [UInt8](repeating: process, count: 16), name: "web-\(process):77")
      try ProcessTable.note(service, mark: mark, in: session)
    }
  }

  /// The mark after a kill of an app that was live.
  private func killed(_ here: Operated) async throws -> Int64 {
    let live = SetStage(.live, of: Operated.bundleID, in: .sandbox, forced: true)
    try await live.apply(live.plan(at: now, on: here.connection), by: kim, at: now, on: here.connection)
    try await RollBackToShadow(of: nil).apply(by: kim, at: now, on: here.connection)
    return try await here.connection.read { session throws(DatabaseError) in try StageTable.mark(in: session) }
  }

  @Test func `are not waited for where none runs`() async throws {
    let here = try await Operated()
    _ = try await killed(here)
    let services = try await StagePropagation.awaited(within: .minutes(2), on: here.connection)
    #expect(services.count == 0 && services.waited < .minutes(1))
  }

  @Test func `are told from one that is behind, for which the wait ends in time`() async throws {
    let here = try await Operated()
    let mark = try await killed(here)
    try await note(1, mark: mark, here)
    try await note(2, mark: mark - 1, here)
    let services = try await StagePropagation.awaited(within: .milliseconds(300), on: here.connection)
    #expect(services.behind.map(\.service.name) == ["web-2:77"])
    #expect(services.following.count == 1 && services.waited >= .milliseconds(300))
    let seen = try await StagePropagation.now(on: here.connection)
    #expect(seen.following.count == 1 && seen.behind.count == 1)
  }

  /// It may be killed, or frozen and go on with the stages that it knew.
  @Test func `are not waited for when they have fallen silent, and are told`() async throws {
    let here = try await Operated()
    let mark = try await killed(here)
    try await note(1, mark: mark, here)
    for (process, milliseconds) in [(2, 16_000), (3, 120_000)] as [(UInt8, Int64)] {
      try await note(process, mark: mark - 1, here)
      try await silence(of: process, milliseconds, here)
    }
    let services = try await StagePropagation.awaited(within: .minutes(2), on: here.connection)
    #expect(services.following.count == 1 && services.behind.isEmpty && services.waited < .minutes(1))
    #expect(services.silent.map(\.service.name) == ["web-2:77", "web-3:77"], "\(services)")
    #expect(services.silent.map { $0.age.milliseconds / 60_000 } == [0, 2], "\(services)")
  }

  private func silence(of process: UInt8, _ milliseconds: Int64, _ here: Operated) async throws {
    try await here.connection.read { session throws(DatabaseError) in
      let id = [UInt8](repeating: process, count: 16)
      _ = try session.execute("UPDATE processes SET seen_at = seen_at - \(milliseconds) WHERE process = \(id)")
    }
  }

  @Test func `end the wait when the last one has followed`() async throws {
    let here = try await Operated()
    let mark = try await killed(here)
    try await note(1, mark: mark - 1, here)
    let other = try await Connection.open(here.configuration)
    async let awaited = StagePropagation.awaited(within: .minutes(2), on: other)
    try await note(1, mark: mark, here)
    let services = try await awaited
    #expect(services.following.count == 1 && services.behind.isEmpty && services.waited < .minutes(1))
    await other.close()
  }
}

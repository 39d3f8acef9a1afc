/// A directory that can be changed, made to fail or to hang, and tells how it was read.
private final class Source: Sendable {
  struct State {
    var apps: [App] = []
    var unopened: [CredentialTable.Unopened] = []
    var gaps: [MissingSetup] = []
    var flags: [AppScope: StageRecord] = [:]
    var isFailing = false
    var isHeld = false
    var readings = 0
    var atOnce = 0
    var mostAtOnce = 0
  }
  struct Away: Error {}

  let state = Mutex(State())

  var readings: Int { state.withLock { $0.readings } }

  func read() async throws -> AppRegistrySnapshot {
    state.withLock { state in
      state.readings += 1
      state.atOnce += 1
      state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
    }
    defer { state.withLock { $0.atOnce -= 1 } }
    let seen = state.withLock { $0 }
    _ = await eventually { state.withLock { !$0.isHeld } }
    if state.withLock({ $0.isFailing }) { throw Away() }
    return AppRegistrySnapshot(
      apps: seen.apps, tokens: [:], flags: seen.flags, unopened: seen.unopened, gaps: seen.gaps)
  }
}

/// The mark of the stages, and what the registry said it works by.
private final class Marks: Sendable {
  let mark = Mutex(Int64(1))
  private let said = Mutex<[Int64?]>([])

  var count: Int { said.withLock { $0.count } }
  var last: Int64? { said.withLock { $0.last ?? nil } }

  func say(_ mark: Int64?) { said.withLock { $0.append(mark) } }
}

@Suite struct `The registry` {
  private let source = Source()
  private let log = RecordingLogHandler()
  private let app = App(id: App.ID(1), bundleID: "com.example.new", appAppleID: nil)

  private func registry() async throws -> AppRegistry {
    let source = source
    return try await AppRegistry(
      reading: { try await source.read() },
      logger: Logger(label: "test", level: .debug, handler: log))
  }

  @Test func `knows a new app at once when it is asked for it`() async throws {
    let registry = try await registry()
    #expect(registry.directory[app.bundleID] == nil)
    source.state.withLock { $0.apps = [app] }
    #expect(registry.directory[app.bundleID] == nil)
    #expect(await registry.refreshed(atMostEvery: .seconds(0))[app.bundleID] == app)
    #expect(registry.directory[app.bundleID] == app)
  }

  /// Who asks while the directory is being read gets what was written before they asked.
  @Test func `reads once for all who wait, and again for those who came during it`() async throws {
    let registry = try await registry()
    source.state.withLock { $0.isHeld = true }
    async let early = registry.refreshed(atMostEvery: .seconds(0))
    #expect(await eventually { source.readings == 2 })
    source.state.withLock { $0.apps = [app] }
    // Each asks before the next line.
    let late = (0..<20).map { _ in Task.immediate { await registry.refreshed(atMostEvery: .seconds(0)) } }
    source.state.withLock { $0.isHeld = false }
    _ = await early
    for task in late { #expect(await task.value[app.bundleID] == app) }
    #expect(source.state.withLock { $0.mostAtOnce } == 1)
    #expect(source.readings == 3)
  }

  /// Else a few who ask during each reading would keep everybody else waiting.
  @Test func `waits for no reading that others asked for later`() async throws {
    let begun = Mutex(0)
    let released = Mutex(1)
    let hasEnded = Mutex(false)
    let registry = try await AppRegistry(
      reading: {
        let number = begun.withLock { begun in
          begun += 1
          return begun
        }
        while released.withLock({ $0 < number }) { try await Task.sleep(for: .milliseconds(2)) }
        return AppRegistrySnapshot(apps: [], tokens: [:], flags: [:], unopened: [], gaps: [])
      }, logger: Logger(label: "test", level: .debug, handler: log))
    let ask = { Task.immediate { _ = await registry.refreshed(atMostEvery: .zero) } }
    var others = [ask()]
    #expect(await eventually { begun.withLock { $0 == 2 } })
    let early = Task.immediate {
      _ = await registry.refreshed(atMostEvery: .zero)
      hasEnded.withLock { $0 = true }
    }
    for number in 3...8 {
      others.append(ask())
      released.withLock { $0 = number - 1 }
      #expect(await eventually { begun.withLock { $0 == number } })
    }
    // The last reading is still under way.
    #expect(await eventually { hasEnded.withLock { $0 } })
    released.withLock { $0 = 100 }
    for task in others + [early] { await task.value }
  }

  @Test func `reads at most once in the interval`() async throws {
    let registry = try await registry()
    let start = ContinuousClock.now
    await withDiscardingTaskGroup { group in
      for _ in 0..<20 { group.addTask { _ = await registry.refreshed(atMostEvery: .milliseconds(60)) } }
    }
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    #expect(source.readings <= 3, "\(source.readings)")
  }

  @Test func `keeps what it knows when it cannot read, says so, and tries no more often for it`() async throws {
    source.state.withLock { $0.apps = [app] }
    let registry = try await registry()
    source.state.withLock { state in
      state.isFailing = true
      state.apps = []
    }
    let start = ContinuousClock.now
    #expect(await registry.refreshed(atMostEvery: .zero)[app.bundleID] == app)
    #expect(log.records.contains { $0.level == .warning })
    #expect(await registry.refreshed(atMostEvery: .milliseconds(60))[app.bundleID] == app)
    #expect(ContinuousClock.now - start >= .milliseconds(50))
    source.state.withLock { $0.isFailing = false }
    #expect(await registry.refreshed(atMostEvery: .seconds(0))[app.bundleID] == nil)
  }

  @Test func `says once of each secret that it does not open`() async throws {
    let secret = { CredentialTable.Unopened(app: App.ID(1), name: $0, reason: "wrongKey") }
    source.state.withLock { state in
      state.apps = [app]
      state.unopened = [secret("4f")]
    }
    let registry = try await registry()
    _ = await registry.refreshed(atMostEvery: .zero)
    source.state.withLock { $0.unopened = [secret("5a"), secret("4f")] }
    for _ in 0..<2 { _ = await registry.refreshed(atMostEvery: .zero) }
    let told = log.records.filter { $0.level == .error }
    #expect(told.map { $0.metadata["secret"] } == ["4f", "5a"])
    #expect(told.allSatisfy { $0.metadata["app"] == .string(app.bundleID) })
    #expect(registry.directory.unopened.count == 2)
  }

  @Test func `logs at the start what apps lack, and once what one lacks that is registered later`() async throws {
    source.state.withLock { $0.gaps = [.noLegacyURL(app, .sandbox)] }
    let registry = try await registry()
    _ = await registry.refreshed(atMostEvery: .zero)
    let later = App(id: App.ID(2), bundleID: "com.example.later", appAppleID: nil)
    source.state.withLock { $0.gaps.append(.noAPIKey(later)) }
    for _ in 0..<2 { _ = await registry.refreshed(atMostEvery: .zero) }
    let told = log.records.filter { $0.level == .notice }
    #expect(told.map { $0.metadata["app"] } == [.string(app.bundleID), .string(later.bundleID)])
    #expect(told[0].message == "app has no legacy URL: nothing is forwarded to its destination")
    #expect(told[0].metadata["environment"] == "Sandbox")
    #expect(
      told[0].metadata["command"] == "switchyard app legacy-url com.example.new URL --environment Sandbox")
    #expect(told[1].message == "app has no API key: Apple cannot be asked about its purchases")
    // Mended, and broken again: that is said again.
    source.state.withLock { $0.gaps = [.noAPIKey(later)] }
    _ = await registry.refreshed(atMostEvery: .zero)
    source.state.withLock { $0.gaps = [.noLegacyURL(app, .sandbox), .noAPIKey(later)] }
    _ = await registry.refreshed(atMostEvery: .zero)
    #expect(log.records.filter { $0.level == .notice }.count == 3)
  }

  @Test func `says that it works by a change of the stages only once it has read them`() async throws {
    let (source, marks) = (source, Marks())
    let registry = try await AppRegistry(
      reading: { try await source.read() }, mark: { marks.mark.withLock { $0 } }, working: { marks.say($0) },
      logger: Logger(label: "test", level: .debug, handler: log))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await registry.run() }
      #expect(await eventually { marks.last == 1 })
      source.state.withLock { $0.isFailing = true }
      let before = marks.count
      marks.mark.withLock { $0 = 2 }
      #expect(await eventually { marks.count > before })
      #expect(marks.last == 1, "it goes on with the stages before")
      source.state.withLock { $0.isFailing = false }
      #expect(await eventually { marks.last == 2 })
      group.cancelAll()
      try await group.waitForAll()
    }
    #expect(marks.last == nil, "it has ended")
  }

  /// As in a process that was suspended, or that is cut off from its database, while the app was taken back.
  @Test func `does not trust stages that it could not look at for five seconds`() async throws {
    let (source, marks) = (source, Marks())
    let start = ContinuousClock.now
    let passed = Mutex(Duration.zero)
    let registry = try await AppRegistry(
      reading: { try await source.read() }, mark: { marks.mark.withLock { $0 } },
      clock: { start + passed.withLock { $0 } }, logger: Logger(label: "test", level: .debug, handler: log))
    #expect(registry.hasCurrentStages(within: .seconds(5)))
    passed.withLock { $0 = .milliseconds(4_999) }
    #expect(registry.hasCurrentStages(within: .seconds(5)))
    passed.withLock { $0 = .seconds(5) }
    #expect(!registry.hasCurrentStages(within: .seconds(5)))
    source.state.withLock { $0.isFailing = true }
    _ = await registry.refreshed(atMostEvery: .zero)
    #expect(!registry.hasCurrentStages(within: .seconds(5)), "a reading that failed tells nothing")
    source.state.withLock { $0.isFailing = false }
    _ = await registry.refreshed(atMostEvery: .zero)
    #expect(registry.hasCurrentStages(within: .seconds(5)))
    // What is read while time passes is as old as its beginning.
    source.state.withLock { $0.isHeld = true }
    async let reading = registry.refreshed(atMostEvery: .zero)
    #expect(await eventually { source.readings == 4 })
    passed.withLock { $0 = .seconds(20) }
    source.state.withLock { $0.isHeld = false }
    _ = await reading
    #expect(!registry.hasCurrentStages(within: .seconds(5)))
    // It looks by itself.
    let run = Task { try await registry.run() }
    #expect(await eventually { registry.hasCurrentStages(within: .seconds(5)) })
    passed.withLock { $0 = .seconds(40) }
    #expect(await eventually { registry.hasCurrentStages(within: .seconds(5)) })
    run.cancel()
    try await run.value
  }

  @Test func `is not made when the first reading fails`() async throws {
    source.state.withLock { $0.isFailing = true }
    await #expect(throws: Source.Away.self) { try await registry() }
  }
}

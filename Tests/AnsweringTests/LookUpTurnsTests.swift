@testable import Answering

@Suite struct `Turns of look-ups` {
  private static let now = Timestamp(1_800_000_000_000)

  private static func customer(_ name: String, app: Int = 1, isNamed: Bool = true) -> LookupRateLimiter.Customer {
    LookupRateLimiter.Customer(
      scope: AppScope(app: App.ID(app), environment: .production), name: name, isNamed: isNamed)
  }

  @Test func `come once in a while for a customer`() async {
    let turns = LookupRateLimiter()
    let customer = Self.customer("1")
    #expect(await turns.looked(up: customer, at: Self.now) { true })
    #expect(!turns.isOpen(customer, at: Self.now + .seconds(59)))
    #expect(await turns.looked(up: customer, at: Self.now + .seconds(59)) { true } == false)
    #expect(turns.isOpen(customer, at: Self.now + .minutes(1)))
    #expect(await turns.looked(up: customer, at: Self.now + .minutes(1)) { true })
  }

  @Test func `are waited for by whoever comes while one is under way`() async {
    let turns = LookupRateLimiter()
    let customer = Self.customer("1")
    let calls = Tally()
    let gate = AsyncStream<Void>.makeStream()
    let first = Task {
      await turns.looked(up: customer, at: Self.now) {
        calls.add()
        for await _ in gate.stream {}
        return true
      }
    }
    #expect(await eventually { calls.count == 1 })
    // The turn is taken: a look-up is open because one is under way, and its end is what the second one gets.
    #expect(turns.isOpen(customer, at: Self.now))
    async let second = turns.looked(up: customer, at: Self.now) {
      calls.add()
      return false
    }
    gate.continuation.finish()
    #expect(await first.value)
    // Never a look-up of its own.
    #expect(calls.count == 1)
    _ = await second
  }

  @Test func `of strangers are bounded for each app, and leave the others theirs`() async {
    var settings = LookupRateLimiter.Settings()
    (settings.strangersAtOnce, settings.strangersEvery) = (3, .milliseconds(250))
    let turns = LookupRateLimiter(settings)
    func look(_ name: Int, app: Int = 1, isNamed: Bool = false, after wait: Interval = .milliseconds(0)) async -> Bool {
      await turns.looked(up: Self.customer("\(name)", app: app, isNamed: isNamed), at: Self.now + wait) { true }
    }
    for name in 0..<3 { #expect(await look(name)) }
    #expect(await look(3) == false)
    #expect(await look(4, isNamed: true))
    #expect(await look(5, app: 2))
    #expect(await look(6, after: .milliseconds(249)) == false)
    #expect(await look(7, after: .milliseconds(250)))
    #expect(await look(8, after: .milliseconds(251)) == false)
    // It fills to where it was, no further.
    for name in 10..<13 { #expect(await look(name, after: .hours(5))) }
    #expect(await look(13, after: .hours(5)) == false)
  }

  @Test func `are remembered for so many customers, and for no one too few`() async {
    var settings = LookupRateLimiter.Settings()
    settings.most = 10
    let turns = LookupRateLimiter(settings)
    for name in 0..<10 {
      #expect(await turns.looked(up: Self.customer("\(name)"), at: Self.now) { true })
    }
    #expect(await turns.looked(up: Self.customer("10"), at: Self.now) { true } == false)
    #expect(await turns.looked(up: Self.customer("10"), at: Self.now + .minutes(2)) { true })
  }
}

@Suite struct `How notifications flow` {
  private static let scope = AppScope(app: App.ID(1), environment: .production)

  @Test func `is looked at once for all who ask at one time`() async throws {
    let flows = NotificationHealthCache(kept: .seconds(3_600))
    let looks = Tally()
    let gate = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup(of: NotificationHealth.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await flows.flow(of: Self.scope) { () async throws(DatabaseError) in
            looks.add()
            for await _ in gate.stream {}
            return NotificationHealth(generation: .v2, lastHeard: Timestamp(5))
          }
        }
      }
      #expect(await eventually { looks.count == 1 })
      gate.continuation.finish()
      for try await flow in group { #expect(flow.lastHeard == Timestamp(5)) }
    }
    #expect(looks.count == 1)
  }

  @Test func `is looked at again after a failure`() async throws {
    let flows = NotificationHealthCache(kept: .seconds(3_600))
    await #expect(throws: DatabaseError.self) {
      _ = try await flows.flow(of: Self.scope) { () async throws(DatabaseError) in
        throw DatabaseError(.misuse, "no")
      }
    }
    let flow = try await flows.flow(of: Self.scope) { () async throws(DatabaseError) in
      NotificationHealth(generation: .v1)
    }
    #expect(flow.generation == .v1)
  }
}

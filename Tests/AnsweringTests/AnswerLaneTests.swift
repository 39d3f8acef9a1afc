@testable import Answering

@Suite struct `Answers of large customers` {
  private static func scope(_ app: Int) -> AppScope { AppScope(app: App.ID(app), environment: .production) }

  /// Runs `body` while so many answers of an app's customers are made or wait in the lane.
  private static func with(
    _ customers: [String], of app: Int, in lane: CallQueue, _ body: () async throws -> Void
  ) async throws {
    let gate = AsyncStream<Void>.makeStream()
    let begun = Tally()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for customer in customers {
        group.addTask {
          begun.add()
          try await lane.large(customer, in: scope(app)) { for await _ in gate.stream {} }
        }
      }
      #expect(await eventually { begun.count == customers.count && lane.waiting == customers.count - 1 })
      try await body()
      gate.continuation.finish()
      try await group.waitForAll()
    }
  }

  @Test func `of one customer or one app never fill what everybody shares`() async throws {
    let lane = CallQueue(label: "strangers", longestLine: 1, mostOfApp: 4, mostOfCustomer: 2)
    try await Self.with(["a", "a"], of: 1, in: lane) {
      await #expect(throws: AsyncSemaphore.Refusal.overloaded) { try await lane.large("a", in: Self.scope(1)) {} }
    }
    var other: Task<Void, any Error>?
    try await Self.with(["a", "b", "c", "d"], of: 1, in: lane) {
      await #expect(throws: AsyncSemaphore.Refusal.overloaded) { try await lane.large("g", in: Self.scope(1)) {} }
      // Another app's waits for its turn, and has it.
      other = Task { try await lane.large("g", in: Self.scope(2)) {} }
      #expect(await eventually { lane.waiting == 4 })
    }
    try await other?.value
    try await lane.large("a", in: Self.scope(1)) {}
  }

  @Test func `wait up to the end of the line`() async throws {
    let lane = CallQueue(label: "named", longestLine: 1, mostOfApp: 17, mostOfCustomer: 17)
    try await Self.with([String](repeating: "a", count: 17), of: 1, in: lane) {
      await #expect(throws: AsyncSemaphore.Refusal.overloaded) { try await lane.large("b", in: Self.scope(1)) {} }
    }
  }
}

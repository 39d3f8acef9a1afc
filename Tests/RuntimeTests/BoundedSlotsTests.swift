@Suite struct `Slots for heavy work` {
  @Test func `are given out in order, as many as there are`() async throws {
    let slots = AsyncSemaphore(count: 2, waiters: 2)
    let gate = Gate()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in ["a", "b", "c", "d"] {
        group.addTask { try await slots.withSlot { await gate.pass(name) } }
        #expect(await eventually { await gate.inside.contains(name) || slots.waitingCount == (name == "c" ? 1 : 2) })
      }
      #expect(await gate.inside == ["a", "b"])
      await #expect(throws: AsyncSemaphore.Refusal.overloaded) { try await slots.withSlot {} }
      await gate.open("b")
      #expect(await eventually { await gate.inside.contains("c") })
      for name in ["a", "c"] { await gate.open(name) }
      #expect(await eventually { await gate.inside.contains("d") })
      await gate.open("d")
      try await group.waitForAll()
    }
    try await slots.withSlot {}
  }

  @Test func `are not kept for whoever gave up waiting`() async throws {
    let slots = AsyncSemaphore(count: 1, waiters: 2)
    let gate = Gate()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await slots.withSlot { await gate.pass("a") } }
      #expect(await eventually { await gate.inside == ["a"] })
      let waiting = Task { try await slots.withSlot {} }
      #expect(await eventually { slots.waitingCount == 1 })
      waiting.cancel()
      await #expect(throws: AsyncSemaphore.Refusal.cancelled) { try await waiting.value }
      #expect(slots.waitingCount == 0)
      await gate.open("a")
      try await group.waitForAll()
    }
    await #expect(throws: Oops.self) { try await slots.withSlot { throw Oops() } }
    try await slots.withSlot {}
  }

  private struct Oops: Error {}

  /// Holds whoever passes until it is opened for them.
  private actor Gate {
    private(set) var inside: [String] = []
    private var waiting: [String: CheckedContinuation<Void, Never>] = [:]

    func pass(_ name: String) async {
      inside.append(name)
      await withCheckedContinuation { waiting[name] = $0 }
    }

    func open(_ name: String) { waiting.removeValue(forKey: name)?.resume() }
  }
}

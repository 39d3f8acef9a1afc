@Suite struct `A side thread` {
  /// How many are at it, and how many were at once.
  private final class Count: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
    }

    func leave() { counts.withLock { $0.now -= 1 } }
  }

  /// Work that awaits nothing, in a function of its own: it must not go back to the threads of everybody.
  private func work(_ number: Int, _ count: Count) async -> Int {
    count.enter()
    defer { count.leave() }
    var sum = 0
    for value in 0..<20_000 { sum &+= value &* number }
    return sum == -1 ? 0 : number
  }

  @Test func `does one piece of work at a time and gives back what it comes to`() async {
    let (thread, count) = (WorkerThread(label: "test"), Count())
    let done = await withTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask { await thread.run { await work(number, count) } ?? -1 }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(done.sorted() == Array(0..<64))
    #expect(count.most == 1)
  }

  @Test func `does not begin what nobody waits for any more`() async {
    let (thread, count) = (WorkerThread(label: "test"), Count())
    let begun = Count()
    let blocked = Task.detached {
      await thread.run {
        begun.enter()
        while count.most == 0 { usleep(1_000) }
      }
    }
    while begun.most == 0 { await Task.yield() }
    let gone = Task.detached { await thread.run { await work(1, begun) } }
    gone.cancel()
    count.enter()
    await blocked.value
    #expect(await gone.value == nil)
    #expect(await thread.run { 7 } == 7)
  }

  /// Strangers' bodies waited for more than half a minute.
  @Test func `takes no work beyond its line, which is refused at once`() async {
    let thread = WorkerThread(label: "test", longestLine: 10)
    let (begun, end) = (Count(), Count())
    let blocked = Task.detached {
      await thread.run(size: 100) {
        begun.enter()
        while end.most == 0 { usleep(1_000) }
        return 1
      }
    }
    while begun.most == 0 { await Task.yield() }
    // What has begun is not in the line any more. Of three there is room for one; the others need not wait to know.
    let outcomes = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<3 { group.addTask { await thread.run(size: 6) { 2 } } }
      var outcomes = [await group.next() ?? 0, await group.next() ?? 0]
      end.enter()
      outcomes.append(await group.next() ?? 0)
      return outcomes
    }
    #expect(outcomes == [nil, nil, 2])
    #expect(await blocked.value == 1)
    #expect(await thread.run(size: 100) { 3 } == 3, "alone it may be of any size")
  }

  @Test func `goes on with others while one awaits`() async {
    let thread = WorkerThread(label: "test")
    let (stream, end) = AsyncStream<Never>.makeStream()
    async let waiting: Bool? = thread.run {
      for await _ in stream {}
      return true
    }
    #expect(await thread.run { 7 } == 7)
    end.finish()
    #expect(await waiting == true)
  }
}

@Suite struct `A coalescing writer` {
  /// Writes when it is let, and remembers what came together.
  private final class Table: Sendable {
    let batches = Mutex<[[Int]]>([])
    private let gate = AsyncStream<Void>.makeStream()

    func write(_ items: [Int]) async -> [Int] {
      batches.withLock { $0.append(items) }
      for await _ in gate.stream { break }
      return items.map { $0 * 2 }
    }

    func letOneThrough() { gate.continuation.yield() }
  }

  @Test func `writes together what came while another batch was written`() async {
    let table = Table()
    let writer = BatchWriter<Int, Int>(unwritten: -1) { await table.write($0) }
    await withTaskGroup(of: (Int, Int).self) { group in
      group.addTask { (1, await writer.write(1)) }
      #expect(await eventually { table.batches.withLock { $0 == [[1]] } })
      for item in 2...5 { group.addTask { (item, await writer.write(item)) } }
      // Who waits cannot be seen from outside: one more pass through the first batch shows who was there.
      table.letOneThrough()
      for _ in 2...5 { table.letOneThrough() }
      for await (item, answer) in group { #expect(answer == item * 2) }
    }
    let batches = table.batches.withLock { $0 }
    #expect(batches.flatMap { $0 }.sorted() == [1, 2, 3, 4, 5])
    #expect(batches.first == [1])
  }

  @Test func `answers what was not written, and writes for who was cancelled`() async {
    let writer = BatchWriter<Int, Int>(unwritten: -1) { _ in [] }
    #expect(await writer.write(1) == -1)
    let written = Mutex<[Int]>([])
    let other = BatchWriter<Int, Int>(unwritten: -1) { items in
      written.withLock { $0 += items }
      return items
    }
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let task = Task {
      for await _ in begun {}
      return await other.write(7)
    }
    task.cancel()
    begin.finish()
    #expect(await task.value == 7)
    #expect(written.withLock { $0 } == [7])
  }

  @Test func `never writes twice at once, and answers each item once`() async {
    let writing = Mutex(0)
    let most = Mutex(0)
    let writer = BatchWriter<Int, Int>(unwritten: -1) { items in
      let now = writing.withLock { count in
        count += 1
        return count
      }
      most.withLock { $0 = max($0, now) }
      await Task.yield()
      writing.withLock { $0 -= 1 }
      return items
    }
    await withTaskGroup(of: Bool.self) { group in
      for item in 0..<500 { group.addTask { await writer.write(item) == item } }
      for await isRight in group { #expect(isRight) }
    }
    #expect(most.withLock { $0 } == 1)
  }
}

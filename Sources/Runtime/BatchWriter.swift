import Synchronization

/// Where items wait to be written together: while some are written the next gather, and none waits for company.
///
/// Whoever is first when a batch has been written writes the next one, its own item among them: nobody waits for batches
/// that came later than its own.
package final class BatchWriter<Item: Sendable, Answer: Sendable>: Sendable {
  private enum Signal: Sendable {
    case write
    case done(Answer)
  }

  private struct Waiting: Sendable {
    let item: Item
    let signals: AsyncStream<Signal>.Continuation
  }

  private struct State {
    var waiting: [Waiting] = []
    var isWriting = false
  }

  private let unwritten: Answer
  private let writeAll: @Sendable ([Item]) async -> [Answer]
  private let state = Mutex(State())

  /// - Parameters:
  ///   - unwritten: the answer to an item that `write` has none for.
  ///   - write: writes items; an answer for each, in their order. Never called twice at once.
  package init(unwritten: Answer, write: @escaping @Sendable ([Item]) async -> [Answer]) {
    self.unwritten = unwritten
    writeAll = write
  }

  /// Returns the answer to the item, once it was written.
  ///
  /// Not to be cancelled: others may wait for what this one writes.
  package func write(_ item: Item) async -> Answer {
    let answer = try? await withCancellationShield { () async -> Answer? in
      let (stream, signals) = AsyncStream<Signal>.makeStream()
      let isFirst = self.state.withLock { state in
        state.waiting.append(Waiting(item: item, signals: signals))
        defer { state.isWriting = true }
        return !state.isWriting
      }
      if isFirst { signals.yield(.write) }
      for await signal in stream {
        switch signal {
        case .write: await self.writeBatch()
        case .done(let answer): return answer
        }
      }
      return nil
    }
    return (answer ?? nil) ?? unwritten
  }

  private func writeBatch() async {
    let batch = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    let answers = await writeAll(batch.map(\.item))
    for (place, waiting) in batch.enumerated() {
      waiting.signals.yield(.done(place < answers.count ? answers[place] : unwritten))
    }
    let next = state.withLock { state in
      if state.waiting.isEmpty { state.isWriting = false }
      return state.waiting.first
    }
    next?.signals.yield(.write)
  }
}

import Ledger

/// Reads a part from where it is, and writes its rows step by step.
///
/// While a step is committed the next one is read and judged, and some batches behind it: the database and the other cores work
/// at once. One step is committed at a time, in the order of the part.
struct PartImport: Sendable {
  /// Why it ended.
  enum End: Sendable {
    case done
    /// The job does not run any more, or this process stops.
    case halted
    /// Another process reads the part by now.
    case lost
  }

  /// What a step needs, and who hears of it.
  struct Dependencies: Sendable {
    let take: @Sendable (MigrationStep) async throws -> MigrationStep.Outcome
    /// Waits until rows may be written: for the disk, for the allowed rate, for the hours of the day.
    let await: @Sendable (_ rows: Int) async -> Void
  }

  /// What ended: nothing else happens to a part, and each happens once at a time but for judging.
  private enum Event: Sendable {
    /// With the reader as it is then; nil at the end of the part.
    case read(SourceBatch?, SourceReader)
    case judged(ClassifiedBatch, number: Int)
    case written(MigrationStep.Outcome, isLast: Bool)
  }

  private let judge: RowClassifier
  private let means: Dependencies
  /// Batches that are judged or wait for their turn.
  private let window: Int

  init(judge: RowClassifier, means: Dependencies, window: Int) {
    self.judge = judge
    self.means = means
    self.window = max(1, window)
  }

  func run(_ part: MigrationPart, _ reader: SourceReader) async throws -> End {
    let result: Result<End, any Error>
    do { result = .success(try await carryOut(part, reader)) } catch { result = .failure(error) }
    // However far it was read: its connection is the same.
    await reader.close()
    return try result.get()
  }

  private func carryOut(_ part: MigrationPart, _ reader: SourceReader) async throws -> End {
    let (start, countsRows) = (part.place, !reader.isHeldToRate)
    return try await withThrowingTaskGroup(of: Event.self) { group in
      // Rows that were read or judged but not written are read again, from where the part is in the ledger.
      defer { group.cancelAll() }
      var cutter = StepBuilder(part)
      // Nil while it reads, and at the end.
      var idle: SourceReader? = reader
      var (given, isRead, isWriting) = (0, false, false)
      while true {
        if !isWriting, let step = cutter.step(isEnd: isRead && cutter.taken == given) {
          isWriting = true
          group.addTask { try await write(step, countsRows: countsRows) }
        }
        if given - cutter.taken < window, let reader = idle {
          idle = nil
          group.addTask { try await read(reader) }
        }
        guard let event = try await group.next() else { return .halted }
        // A task that is cancelled reads and judges nothing, which is not the end of the part.
        if Task.isCancelled { return .halted }
        switch event {
        case .read(nil, _): isRead = true
        case .read(let batch?, let reader):
          idle = reader
          let number = given
          given += 1
          group.addTask(priority: .utility) {
            let rows = await judge.placed(batch, from: start)
            return .judged(ClassifiedBatch(rows: rows, bytesRead: batch.bytesRead), number: number)
          }
        case .judged(let batch, let number): cutter.add(batch, number: number)
        case .written(.written, let isLast):
          if isLast { return .done }
          isWriting = false
        case .written(.halted, _): return .halted
        case .written(.lost, _): return .lost
        }
      }
    }
  }

  private func read(_ reader: SourceReader) async throws -> Event {
    var reader = reader
    let batch = try await reader.next { await means.await($0) }
    return .read(batch, reader)
  }

  private func write(_ step: MigrationStep, countsRows: Bool) async throws -> Event {
    // Rows of a source that is held to the rate itself have waited already.
    await means.await(countsRows ? step.rows.count : 0)
    if Task.isCancelled { return .written(.halted, isLast: false) }
    return .written(try await means.take(step), isLast: step.isLast)
  }
}

import Backfill
import Ledger
import Synchronization
import Time

/// Reads a part from where it is, and writes its rows step by step.
struct PartRun: Sendable {
  /// Why it ended.
  enum End: Sendable {
    case done
    /// The job does not run any more, or this process stops.
    case halted
    /// Another process reads the part by now.
    case lost
  }

  /// What a step needs, and who hears of it.
  struct Means: Sendable {
    let take: @Sendable (MigrationStep) async throws -> MigrationStep.Outcome
    /// Waits until rows may be written: for the disk, for the allowed rate, for the hours of the day.
    let await: @Sendable (_ rows: Int) async -> Void
  }

  private let judge: RowJudge
  private let means: Means
  /// Batches that are judged or wait for their turn.
  private let window: Int

  /// Rows of a transaction at most.
  private static let stepRows = 256
  /// Rows that one transaction writes at most, about; a transaction holds the locks of what it writes.
  private static let stepWeight = 2_048

  init(judge: RowJudge, means: Means, window: Int) {
    self.judge = judge
    self.means = means
    self.window = max(1, window)
  }

  func run(_ part: MigrationPart, _ reader: SourceReader) async throws -> End {
    var reader = reader
    let result: Result<End, any Error>
    do { result = .success(try await run(part, reading: &reader)) } catch { result = .failure(error) }
    await reader.close()
    return try result.get()
  }

  private func run(_ part: MigrationPart, reading reader: inout SourceReader) async throws -> End {
    var writer = StepWriter(part: part, means: means, countsRows: !reader.isHeldToRate)
    let start = part.place
    return try await withThrowingTaskGroup(of: Judged.self) { group in
      var (given, judged, ready) = (0, 0, [Int: Judged]())
      var isRead = false
      while true {
        while !isRead, given - judged < window, !Task.isCancelled {
          guard let batch = try await reader.next({ await means.await($0) }) else {
            isRead = true
            break
          }
          let number = given
          given += 1
          group.addTask(priority: .utility) { [judge] in
            Judged(number: number, rows: await judge.placed(batch, from: start), bytesRead: batch.bytesRead)
          }
        }
        if Task.isCancelled { return .halted }
        guard given > judged else { break }
        guard let next = try await group.next() else { break }
        ready[next.number] = next
        while let next = ready.removeValue(forKey: judged) {
          judged += 1
          if Task.isCancelled { return .halted }
          if let end = try await writer.take(next.rows, bytesRead: next.bytesRead) { return end }
        }
      }
      return try await writer.finish()
    }
  }

  private struct Judged: Sendable {
    let number: Int
    let rows: [PlacedRow]
    let bytesRead: Int64
  }

  /// Gathers rows into steps.
  private struct StepWriter {
    var part: MigrationPart
    let means: Means
    /// Whether rows are held to the rate here, and not where they are read.
    let countsRows: Bool
    private var rows: [PlacedRow] = []
    private var weight = 0
    private var bytesRead: Int64 = 0

    init(part: MigrationPart, means: Means, countsRows: Bool) {
      self.part = part
      self.means = means
      self.countsRows = countsRows
    }

    /// Nil while the part goes on.
    mutating func take(_ placed: [PlacedRow], bytesRead end: Int64) async throws -> End? {
      let start = bytesRead
      for (index, row) in placed.enumerated() {
        // A batch has the rows of many steps: each has read its share, or what is left would be told too low.
        bytesRead = start + max(0, end - start) * Int64(index) / Int64(placed.count)
        let more = row.row.weight
        if !rows.isEmpty, rows.count >= stepRows || weight + more > stepWeight {
          if let end = try await write(isLast: false) { return end }
        }
        rows.append(row)
        weight += more
      }
      bytesRead = max(start, end)
      return nil
    }

    mutating func finish() async throws -> End { try await write(isLast: true) ?? .done }

    private mutating func write(isLast: Bool) async throws -> End? {
      await means.await(countsRows ? rows.count : 0)
      if Task.isCancelled { return .halted }
      let end = rows.last?.end ?? part.place
      let step = MigrationStep(
        part: part, rows: rows.map(\.row), end: end, bytesRead: bytesRead, isLast: isLast)
      switch try await means.take(step) {
      case .written: part.place = end
      case .halted: return .halted
      case .lost: return .lost
      }
      rows.removeAll(keepingCapacity: true)
      weight = 0
      return nil
    }
  }
}

extension MigrationStep.Row {
  /// About how many rows it writes.
  fileprivate var weight: Int {
    switch self {
    case .content(let content): (content.entry?.weight ?? 1) + 2 * content.ids.count + 2
    case .rejected: 1
    }
  }
}

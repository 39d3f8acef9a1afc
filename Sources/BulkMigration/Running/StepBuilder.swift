import Ledger

/// The rows of a batch, judged.
struct ClassifiedBatch: Sendable {
  let rows: [PositionedRow]
  /// Of the part, as it lies there; up to the end of the batch.
  let bytesRead: Int64
}

/// Cuts judged rows into steps, in the order of the part, whatever the order in which the batches were judged.
struct StepBuilder {
  /// As it is after the last step that was cut.
  private var part: MigrationPart
  /// Batches that wait for their turn, by number.
  private var judged: [Int: ClassifiedBatch] = [:]
  /// How many batches had their turn.
  private(set) var taken = 0

  /// The batch whose turn it is.
  private var batch = ClassifiedBatch(rows: [], bytesRead: 0)
  /// The first of its rows that is in no step.
  private var next = 0
  /// Of the part, up to the beginning of `batch`.
  private var bytesBefore: Int64 = 0

  /// Of the step that is being filled.
  private var rows: [PositionedRow] = []
  private var weight = 0

  /// Rows of a transaction at most.
  private static let mostRows = 256
  /// Rows that one transaction writes at most, about; a transaction holds the locks of what it writes.
  ///
  /// An ordinary receipt is about 15 of them, so that it is `mostRows` that ends most steps.
  private static let mostWeight = 4_096

  init(_ part: MigrationPart) { self.part = part }

  /// Adds a batch; the batches have all numbers from 0.
  mutating func add(_ batch: ClassifiedBatch, number: Int) {
    judged[number] = batch
    fill()
  }

  /// The next step once it is full, or once nothing follows; else nil.
  ///
  /// - Parameter isEnd: whether `taken` is the number of all batches.
  mutating func step(isEnd: Bool) -> MigrationStep? {
    let isLast = isEnd && !isFull
    guard isFull || isLast else { return nil }
    let step = MigrationStep(
      part: part, rows: rows.map(\.row), end: rows.last?.end ?? part.place, bytesRead: bytesRead, isLast: isLast)
    part.place = step.end
    (rows, weight) = ([], 0)
    fill()
    return step
  }

  /// Whether the next row has to wait for another step.
  private var isFull: Bool { next < batch.rows.count }

  private mutating func fill() {
    while true {
      while next < batch.rows.count {
        let row = batch.rows[next]
        let more = row.row.weight
        if !rows.isEmpty, rows.count >= Self.mostRows || weight + more > Self.mostWeight { return }
        rows.append(row)
        weight += more
        next += 1
      }
      guard let following = judged.removeValue(forKey: taken) else { return }
      bytesBefore = bytesRead
      (batch, next) = (following, 0)
      taken += 1
    }
  }

  /// A batch may have the rows of many steps: each has read its share, or what is left would be told too low.
  private var bytesRead: Int64 {
    let more = max(0, batch.bytesRead - bytesBefore)
    return isFull ? bytesBefore + more * Int64(next) / Int64(batch.rows.count) : bytesBefore + more
  }
}

extension MigrationStep.Row {
  /// About how many rows it writes.
  fileprivate var weight: Int {
    switch self {
    case .content(let content):
      (content.entry?.weight ?? 1) + content.users.reduce(0) { $0 + $1.weight } + 2 * content.ids.count + 2
    case .rejected: 1
    }
  }
}

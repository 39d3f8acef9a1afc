package import Backfill
import Ledger

/// Rows as they were read, to be judged together.
package struct SourceBatch: Sendable {
  package enum Content: Sendable {
    case block(Block)
    case rows([TableRow])
    /// A file that cannot be read to its end: its rows before that came before.
    case damaged(file: String?)
  }

  package let content: Content
  /// Of the part, as it lies there; up to here.
  package let bytesRead: Int64
}

/// A row that was judged, and up to where the part is done with it.
struct PositionedRow: Sendable {
  let row: MigrationStep.Row
  let end: SourcePosition
}

extension RowClassifier {
  /// Judges the rows of a batch that are not done yet.
  func placed(_ batch: SourceBatch, from start: SourcePosition) async -> [PositionedRow] {
    switch batch.content {
    case .damaged(let file):
      let end = SourcePosition(file: file, position: .max)
      return [PositionedRow(row: reject(RejectReason(word: "damagedFile"), line: 0, at: end, Self.nobody), end: end)]
    case .rows(let rows):
      var placed: [PositionedRow] = []
      placed.reserveCapacity(rows.count)
      for (index, row) in rows.enumerated() {
        if index % 16 == 15 { await Task.yield() }
        if Task.isCancelled { return [] }
        let end = SourcePosition(key: row.key)
        switch verdict(on: row) {
        case .content(let content): placed.append(PositionedRow(row: .content(content), end: end))
        case .rejected(let reason, let owner):
          placed.append(PositionedRow(row: reject(reason, line: 0, at: end, owner), end: end))
        }
      }
      return placed
    case .block(let block):
      let done = block.file == start.file ? start.position : 0
      if block.end <= done { return [] }
      var rows: [Row] = []
      block.forEachRow { row in if row.position >= done { rows.append(row) } }
      var placed: [PositionedRow] = []
      placed.reserveCapacity(rows.count)
      for (index, row) in rows.enumerated() {
        // Others share these threads.
        if index % 16 == 15 { await Task.yield() }
        if Task.isCancelled { return [] }
        let here = SourcePosition(file: block.file, position: Int64(row.position))
        let end = SourcePosition(file: block.file, position: Int64(row.position) + 1)
        switch verdict(on: row, format: block.format) {
        case .content(let content): placed.append(PositionedRow(row: .content(content), end: end))
        case .rejected(let reason, let owner):
          placed.append(PositionedRow(row: reject(reason, line: row.line, at: here, owner), end: end))
        }
      }
      return placed
    }
  }

  private func reject(
    _ reason: RejectReason, line: Int, at place: SourcePosition, _ owner: MigrationAccountTable.CountScope
  ) -> MigrationStep.Row {
    .rejected(MigrationStep.Reject(reason: reason.code, line: line, place: place, owner: owner))
  }
}

import Synchronization
package import Time

/// How far a run is, for whoever looks while it goes on.
package final class ExtractionProgress: Sendable {
  package struct Figures: Sendable {
    package var accounts = RowCounts()
    /// Of the input as it lies there, compressed or not.
    package var bytesRead: Int64 = 0
    /// Nil for a pipe.
    package var bytesInAll: Int64?
    /// Whether all of the input was read, so that its rows are known.
    package var isReadToEnd = false
    /// `csv`, `jsonl`, `lines` or `receipt`; "mixed" for a folder that has several.
    package var format: String?
    package var isCompressed = false
    /// Lines that are rejected because a quote is missing or extra: the first 100 spans, in order.
    package var doubtful: [AmbiguousLines] = []
    /// The number of all such spans.
    package var doubtfulCount = 0
    /// The first row of a table that has more or fewer fields than the header.
    package var firstMisfit: FieldCountMismatch?
    /// Cells of rejected rows that a spreadsheet would run.
    package var formulas = 0

    package init() {}
  }

  private let state = Mutex(Figures())

  package init() {}

  package var figures: Figures { state.withLock { $0 } }

  func expect(bytes: Int64) { state.withLock { $0.bytesInAll = bytes } }
  func note(bytesRead count: Int) { state.withLock { $0.bytesRead += Int64(count) } }
  func noteEnd() { state.withLock { $0.isReadToEnd = true } }
  func note(formulas count: Int) { state.withLock { $0.formulas += count } }
  func note(accounts: RowCounts) { state.withLock { $0.accounts = accounts } }

  /// How many spans are kept.
  private static let longest = 100

  /// Adjacent lines are one span.
  func note(doubtful lines: [AmbiguousLines], misfit: FieldCountMismatch?) {
    if lines.isEmpty, misfit == nil { return }
    state.withLock { state in
      if state.firstMisfit == nil { state.firstMisfit = misfit }
      for next in lines {
        if let last = state.doubtful.last, state.doubtful.count == state.doubtfulCount, last.file == next.file,
          last.last + 1 == next.first
        {
          state.doubtful[state.doubtful.count - 1] = AmbiguousLines(file: last.file, first: last.first, last: next.last)
        } else {
          state.doubtfulCount += 1
          if state.doubtful.count < Self.longest { state.doubtful.append(next) }
        }
      }
    }
  }

  func note(format: RowFormat, isCompressed: Bool) {
    state.withLock { state in
      state.format = state.format.map { $0 == format.name ? $0 : "mixed" } ?? format.name
      state.isCompressed = state.isCompressed || isCompressed
    }
  }
}

extension ExtractionProgress.Figures {
  /// All rows of the input, as far as they can be told: exact when it was read to its end, else by the bytes so far.
  package var total: (rows: Int, isExact: Bool)? {
    guard !isReadToEnd, let bytesInAll, bytesRead > 0, accounts.rows > 0 else { return nil }
    let estimate = Double(accounts.rows) * Double(bytesInAll) / Double(bytesRead)
    return (max(accounts.rows, Int(estimate)), false)
  }

  /// `412,000 of ~1,000,000 rows, 41 %, 26,100/s, 23 s left (limited by this machine's cores), 1,020 rejected`.
  package func line(after elapsed: Interval) -> String {
    let seconds = max(0.001, Double(elapsed.milliseconds) / 1_000)
    let rate = Double(accounts.rows) / seconds
    var line = Self.grouped(accounts.rows)
    if let (rows, isExact) = total {
      line += " of \(isExact ? "" : "~")\(Self.grouped(rows)) rows, \(accounts.rows * 100 / max(1, rows)) %"
      line += ", \(Self.grouped(Int(rate)))/s, "
      line += rate > 0 ? "\(Self.duration(Int(Double(rows - accounts.rows) / rate))) left" : "no end in sight"
    } else {
      line += " rows\(isReadToEnd ? " read to the end" : ""), \(Self.grouped(Int(rate)))/s"
    }
    return line + ", \(Self.grouped(accounts.rejected)) rejected, \(Self.grouped(accounts.duplicates)) duplicates"
  }

  private static func duration(_ seconds: Int) -> String {
    seconds < 100 ? "~\(seconds) s" : seconds < 6_000 ? "~\(seconds / 60) min" : "~\(seconds / 3_600) h"
  }

  /// 1234567 as people read it.
  package static func grouped(_ number: Int) -> String {
    var digits = Array(String(number.magnitude))
    for place in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: place) }
    return (number < 0 ? "-" : "") + String(digits)
  }
}

import Runtime

/// Decides which bytes of a table are whole records and which lines are doubtful.
///
/// The table is read by RFC 4180. At each quote the opposite reading is tried too, in which an earlier quote is missing or
/// extra, so that inside and outside are swapped. Usually the quote refutes the opposite reading, because it could not stand
/// there; then all records before the quote are **certain**. If the quote refutes the first reading, all text behind the last
/// certain record is **doubtful**, up to the end of the record in which the state is known again.
///
/// A table that RFC 4180 allows is never doubted. In a table with one missing or extra quote, only records of the undamaged
/// table are certain, as long as its quoted texts are shorter than `RowLimits.lookahead`.
///
/// The decisions depend on the bytes alone, not on the pieces in which they come. All positions count from the beginning
/// of the input.
struct TableScan {
  struct Part: Equatable {
    enum Kind { case records, doubtful, oversized, dropped }
    let kind: Kind
    var end: Int
  }

  private enum Mode {
    /// `state` is the one of RFC 4180, and no quote has refuted it.
    case reading
    /// `state` is known again. The current record is still doubtful.
    case doubting
    /// Both states are possible.
    case undecided
    /// Both states are refuted. The rest of the line is ignored.
    case lost
  }

  private enum Dropping { case nothing, record, line }

  private let dialect: CSVDialect
  private let limits: RowLimits
  /// The decided parts that are not taken yet, without gaps.
  private(set) var parts: [Part] = []
  /// The end of the parts.
  private(set) var decided: Int

  private var mode = Mode.reading
  private var state = QuoteState.outside
  /// All quotes before this position are processed.
  private var scanned: Int
  /// The beginning of the current record.
  private var recordStart: Int
  /// All records before this position are certain.
  private var certain: Int
  /// The position behind the last quote that opened or closed a field.
  private var lastTurn: Int
  /// The position at which one of the states was last refuted, or both became possible again.
  private var evidence: Int
  /// Whether the state is known from lengths alone, so that more text has to follow before a record is certain.
  private var isSuspicious = false
  /// Whether the table has ordinary quotes within unquoted fields.
  private var allowsText = false
  private var dropping = Dropping.nothing

  /// - Parameter start: the position of the first record.
  init(_ dialect: CSVDialect, _ limits: RowLimits, start: Int) {
    self.dialect = dialect
    self.limits = limits
    (decided, scanned, recordStart, certain, lastTurn, evidence) = (start, start, start, start, start, start)
  }

  mutating func takeParts() -> [Part] {
    defer { parts = [] }
    return parts
  }

  /// Decides as much of the text as possible.
  ///
  /// - Parameter text: begins at `decided`.
  mutating func scan(_ text: PendingText, isLast: Bool) {
    while true {
      let (run, clear) = text.nextRun(from: scanned, dialect, isLast: isLast)
      while true {
        if scanned >= limit {
          exceed(text)
        } else if scanned < clear {
          pass(text, to: min(clear, limit))
        } else {
          break
        }
      }
      guard let run else { break }
      meet(run, text)
      scanned = run.end
    }
    if isLast { finish(text) } else { settle(text) }
  }

  // MARK: Text without quotes

  private mutating func pass(_ text: PendingText, to end: Int) {
    let first = mode == .reading && dropping == .nothing ? nil : text.firstLineEnd(from: scanned, before: end)
    switch (mode, state) {
    case (.reading, .outside):
      if let first {
        mark(.dropped, to: first)
        dropping = .nothing
        begin(at: first)
        scanned = first
        return
      }
      if dropping == .nothing, let last = text.lastLineEnd(from: scanned, before: end) { recordStart = last }
    case (.doubting, .outside):
      if let first {
        markDoubtful(text, to: first)
        mode = .reading
        begin(at: first)
        scanned = first
        return
      }
    case (.lost, _):
      if let first {
        mode = .undecided
        evidence = first
        scanned = first
        return
      }
    case (.reading, .inside), (.doubting, .inside), (.undecided, _): break
    }
    scanned = end
  }

  /// Begins a record with nothing doubtful before it.
  private mutating func begin(at position: Int) {
    (recordStart, certain, lastTurn, evidence) = (position, position, position, position)
  }

  // MARK: Quotes

  private mutating func meet(_ run: QuoteRun, _ text: PendingText) {
    switch mode {
    case .reading: read(run, text)
    case .doubting:
      let next = state.after(run, allowsText: allowsText)
      let other = state.other.after(run, allowsText: allowsText)
      if next == nil || other == nil { evidence = run.end }
      if let known = next ?? other { state = known } else { mode = .lost }
    case .undecided:
      let inside = QuoteState.inside.after(run, allowsText: allowsText)
      let outside = QuoteState.outside.after(run, allowsText: allowsText && inside == nil)
      switch (outside, inside) {
      case (_?, _?): break
      case (let known?, nil), (nil, let known?): know(known, at: run.end)
      case (nil, nil): mode = .lost
      }
    case .lost: break
    }
  }

  private mutating func read(_ run: QuoteRun, _ text: PendingText) {
    advance(text, to: run.start)
    if state == .outside, run.isWithinText { allowsText = true }
    let next = state.after(run, allowsText: allowsText)
    let other = state.other.after(run, allowsText: allowsText)
    guard let next else {
      doubt()
      if let other { know(other, at: run.end) } else { mode = .lost }
      return
    }
    if other == nil {
      (certain, evidence) = (recordStart, run.end)
      isSuspicious = false
    } else if run.start - certain > limits.row + limits.patience {
      // Nothing refutes these records, and no more text can be held.
      certain = recordStart
    }
    if next != state { lastTurn = run.end }
    state = next
  }

  private mutating func know(_ known: QuoteState, at position: Int) {
    mode = .doubting
    state = known
    evidence = position
    isSuspicious = false
  }

  /// Marks the certain records; the text behind them is doubtful.
  private mutating func doubt() {
    if dropping == .record { dropping = .line } else { mark(.records, to: certain) }
  }

  /// Makes those records certain that are far enough before `position`, if no field opened or closed since.
  private mutating func advance(_ text: PendingText, to position: Int) {
    guard state == .outside else { return }
    let limit = position - (isSuspicious ? limits.patience : limits.lookahead)
    let start = max(lastTurn, certain)
    if limit > start, let last = text.lastLineEnd(from: start, before: limit) { certain = last }
  }

  // MARK: Lengths

  /// The position at which the current record or doubtful span becomes too long.
  private var limit: Int {
    switch (mode, state) {
    case (.reading, .outside): oversize
    case (.reading, .inside): min(max(recordStart, evidence) + limits.row + limits.patience, oversize)
    case (.doubting, .inside), (.undecided, _): evidence + limits.row
    case (.doubting, .outside), (.lost, _): .max
    }
  }

  /// The position at which the current record can no longer be held.
  private var oversize: Int { dropping == .record ? .max : recordStart + 2 * limits.row + limits.patience }

  private mutating func exceed(_ text: PendingText) {
    if mode != .reading {
      // No quoted text is that long.
      (mode, state, isSuspicious) = (.doubting, .outside, true)
      return
    }
    let longest = max(recordStart, evidence) + limits.row
    guard state == .inside, scanned >= longest + limits.patience else {
      mark(.records, to: recordStart)
      mark(.oversized, to: min(scanned, recordStart + Block.beginningLength))
      dropping = .record
      return
    }
    // The opening quote of this field is never closed. Whatever it belonged to is no longer than a row.
    let isDropping = dropping == .record
    doubt()
    (state, isSuspicious) = (.outside, true)
    guard !isDropping, let end = text.firstLineEnd(from: longest, before: scanned) else {
      mode = .doubting
      return
    }
    markDoubtful(text, to: end)
    begin(at: end)
    if let last = text.lastLineEnd(from: end, before: scanned) { recordStart = last }
  }

  // MARK: Parts

  /// Marks the decided text, and drops text that is too long to be held.
  private mutating func settle(_ text: PendingText) {
    if mode == .reading {
      advance(text, to: scanned)
      if dropping == .record { mark(.dropped, to: scanned) } else { mark(.records, to: certain) }
      return
    }
    if let last = text.lastLineEnd(from: decided, before: scanned) { markDoubtful(text, to: last) }
    if dropping == .nothing, scanned - decided > limits.row {
      mark(.oversized, to: endOfBeginning)
      dropping = .line
    }
    if dropping == .line { mark(.dropped, to: scanned) }
  }

  private mutating func finish(_ text: PendingText) {
    let isReading = mode == .reading && state == .outside
    if isReading, dropping == .nothing { return mark(.records, to: scanned) }
    if isReading { return mark(.dropped, to: scanned) }
    if mode == .reading { doubt() }
    markDoubtful(text, to: scanned)
  }

  private mutating func markDoubtful(_ text: PendingText, to end: Int) {
    if dropping == .line, end > decided {
      let lineEnd = text.firstLineEnd(from: decided, before: end)
      mark(.dropped, to: lineEnd ?? end)
      if lineEnd != nil { dropping = .nothing }
    }
    // A line that is too long is one wherever the pieces end that it comes in.
    var start = decided
    while start < end {
      let lineEnd = text.firstLineEnd(from: start, before: end)
      let next = lineEnd ?? end
      if (lineEnd == nil ? next : next - 1) - start > limits.row {
        mark(.doubtful, to: start)
        mark(.oversized, to: endOfBeginning)
        mark(.dropped, to: next)
      }
      start = next
    }
    mark(.doubtful, to: end)
  }

  /// Where the part of a line that is too long ends that is kept, if the line begins at `decided`.
  private var endOfBeginning: Int { decided + min(limits.row, Block.beginningLength) }

  private mutating func mark(_ kind: Part.Kind, to end: Int) {
    guard end > decided else { return }
    decided = end
    if let last = parts.last, last.kind == kind, kind != .oversized {
      parts[parts.count - 1].end = end
    } else {
      parts.append(Part(kind: kind, end: end))
    }
  }
}

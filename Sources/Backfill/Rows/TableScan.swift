import Runtime

/// Decides which bytes of a table are whole records, and which cannot be told apart.
///
/// The table is read as RFC 4180 says. At each quote the opposite reading is tried too, in which one quote before this one
/// was too many or too few. Mostly a quote refutes it, since it stands where that reading could not have it, and then every
/// record before the quote is **certain**. When a quote refutes the RFC's reading, all that follows the last certain record
/// is **doubtful**, until it is known again whether a byte is inside quotes, and then to the end of that record.
///
/// A table that RFC 4180 allows is never doubted. Of a table with one quote too many or too few no record is certain that
/// was not a record before the damage, as long as no text between quotes is longer than `RowLimits.lookahead`.
///
/// What is decided depends on the bytes alone, not on the pieces in which they come. All positions count from the input's
/// beginning.
struct TableScan {
  struct Part: Equatable {
    enum Kind { case records, doubtful, oversized, dropped }
    let kind: Kind
    var end: Int
  }

  private enum Mode {
    /// `state` is what RFC 4180 says, and nothing speaks against it.
    case reading
    /// `state` is known again. The record in which it became known is doubtful too.
    case doubting
    /// Both states are possible.
    case undecided
    /// Neither state is possible. The rest of the line says nothing.
    case lost
  }

  private enum Dropping { case nothing, record, line }

  private let dialect: CSVDialect
  private let limits: RowLimits
  /// Decided and not yet taken, each beginning where the one before it ends.
  private(set) var parts: [Part] = []
  /// Where the parts end.
  private(set) var decided: Int

  private var mode = Mode.reading
  private var state = QuoteState.outside
  /// Quotes before this position were met.
  private var scanned: Int
  /// Where the record that is read begins.
  private var recordStart: Int
  /// Records before this position are certain.
  private var certain: Int
  /// Behind the last quote that opened or closed a field.
  private var lastTurn: Int
  /// Where it was last known which state is right, or became possible again that either is.
  private var evidence: Int
  /// Whether the state was concluded from lengths alone, so that more has to follow before a record is certain.
  private var isSuspicious = false
  /// Whether the table has quotes within unquoted fields.
  private var allowsText = false
  private var dropping = Dropping.nothing

  /// - Parameter start: where the first record begins.
  init(_ dialect: CSVDialect, _ limits: RowLimits, start: Int) {
    self.dialect = dialect
    self.limits = limits
    (decided, scanned, recordStart, certain, lastTurn, evidence) = (start, start, start, start, start, start)
  }

  mutating func takeParts() -> [Part] {
    defer { parts = [] }
    return parts
  }

  /// Decides what can be decided now.
  ///
  /// - Parameter text: begins at `decided`, as far as it is known.
  mutating func scan(_ text: HeldText, isLast: Bool) {
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

  private mutating func pass(_ text: HeldText, to end: Int) {
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

  /// Reads records from `position` on.
  private mutating func begin(at position: Int) {
    (recordStart, certain, lastTurn, evidence) = (position, position, position, position)
  }

  // MARK: Quotes

  private mutating func meet(_ run: QuoteRun, _ text: HeldText) {
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

  private mutating func read(_ run: QuoteRun, _ text: HeldText) {
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
      // Nothing speaks against these records, and no more of them can be held.
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

  /// Ends the records that are certain; what follows is doubtful.
  private mutating func doubt() {
    if dropping == .record { dropping = .line } else { mark(.records, to: certain) }
  }

  /// Makes the records certain behind which enough of the table follows, up to `position`, in which no quote turns.
  private mutating func advance(_ text: HeldText, to position: Int) {
    guard state == .outside else { return }
    let limit = position - (isSuspicious ? limits.patience : limits.lookahead)
    let start = max(lastTurn, certain)
    if limit > start, let last = text.lastLineEnd(from: start, before: limit) { certain = last }
  }

  // MARK: Lengths

  /// Where what is read becomes too long.
  private var limit: Int {
    switch (mode, state) {
    case (.reading, .outside): oversize
    case (.reading, .inside): min(max(recordStart, evidence) + limits.row + limits.patience, oversize)
    case (.doubting, .inside), (.undecided, _): evidence + limits.row
    case (.doubting, .outside), (.lost, _): .max
    }
  }

  /// Where not even the beginning of the record can be held any longer.
  private var oversize: Int { dropping == .record ? .max : recordStart + 2 * limits.row + limits.patience }

  private mutating func exceed(_ text: HeldText) {
    if mode != .reading {
      // No text is so long.
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
    // The quote that opened this field is never closed. The field it was meant to open, if any, is over by now.
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

  /// Takes what is decided, and drops what is too long to be held.
  private mutating func settle(_ text: HeldText) {
    if mode == .reading {
      advance(text, to: scanned)
      if dropping == .record { mark(.dropped, to: scanned) } else { mark(.records, to: certain) }
      return
    }
    if let last = text.lastLineEnd(from: decided, before: scanned) { markDoubtful(text, to: last) }
    if dropping == .nothing, scanned - decided > limits.row {
      mark(.oversized, to: min(scanned, decided + Block.beginningLength))
      dropping = .line
    }
    if dropping == .line { mark(.dropped, to: scanned) }
  }

  private mutating func finish(_ text: HeldText) {
    let isReading = mode == .reading && state == .outside
    if isReading, dropping == .nothing { return mark(.records, to: scanned) }
    if isReading { return mark(.dropped, to: scanned) }
    if mode == .reading { doubt() }
    markDoubtful(text, to: scanned)
  }

  private mutating func markDoubtful(_ text: HeldText, to end: Int) {
    if dropping == .line, end > decided {
      let lineEnd = text.firstLineEnd(from: decided, before: end)
      mark(.dropped, to: lineEnd ?? end)
      if lineEnd != nil { dropping = .nothing }
    }
    mark(.doubtful, to: end)
  }

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

/// Consecutive quotes in a table, and whether the bytes around them allow a field to begin or end there.
struct QuoteRun {
  let start: Int
  /// Behind the last of them.
  let end: Int
  /// Whether a field begins here: the byte before is a delimiter or ends a line, or there is none.
  let isAtFieldStart: Bool
  /// Whether a field ends here: a delimiter, a line end or the end of the input follows.
  let isAtFieldEnd: Bool

  /// The longest run that is read as one.
  ///
  /// Longer runs are damage.
  static let longest = 64 << 10

  var isOdd: Bool { (end - start) % 2 == 1 }
  var isTooLong: Bool { end - start == Self.longest }

  /// A quote in the middle of a text, as in `5" screen`: it neither opens nor closes a field.
  var isWithinText: Bool { isOdd && !isAtFieldStart && !isAtFieldEnd }
}

/// Whether a byte of a table is outside or inside a quoted field.
///
/// A missing or extra quote turns one into the other. The quotes that follow tell, because RFC 4180 lets a quoted field
/// open only at its first byte and close only at its last.
enum QuoteState {
  case outside, inside

  var other: Self { self == .outside ? .inside : .outside }

  /// Returns the state behind `run`; nil when RFC 4180 does not allow such a run in this state.
  ///
  /// - Parameter allowsText: whether quotes within unquoted fields are ordinary bytes.
  func after(_ run: QuoteRun, allowsText: Bool) -> Self? {
    if run.isTooLong { return nil }
    switch self {
    case .outside:
      // The first quote opens a field. An even run closes it again, which has to be at the field's end.
      if run.isAtFieldStart { return run.isOdd ? .inside : run.isAtFieldEnd ? .outside : nil }
      return allowsText && !(run.isOdd && run.isAtFieldEnd) ? .outside : nil
    case .inside:
      // Two quotes are an escaped one. A single one closes the field.
      if !run.isOdd { return .inside }
      return run.isAtFieldEnd ? .outside : nil
    }
  }
}

/// Quotes that stand beside each other in a table, and what the bytes around them allow.
struct QuoteRun {
  let start: Int
  /// Behind the last of them.
  let end: Int
  /// Whether a field begins here: before it is a delimiter, a line end or nothing.
  let isAtFieldStart: Bool
  /// Whether a field ends here: after it is a delimiter, a line end or nothing.
  let isAtFieldEnd: Bool

  /// More of them are not looked at together: no table has a reason for so many.
  static let longest = 64 << 10

  var isOdd: Bool { (end - start) % 2 == 1 }
  var isTooLong: Bool { end - start == Self.longest }

  /// A single quote in the middle of a word or of a sentence: it neither opens nor closes anything.
  var isWithinText: Bool { isOdd && !isAtFieldStart && !isAtFieldEnd }
}

/// Which of the two ways to read a table's quotes is meant: whether a byte is outside of a quoted field or inside.
///
/// One quote too many or too few turns one into the other. What follows tells which it was: RFC 4180 lets a field open only
/// at its start and close only at its end.
enum QuoteState {
  case outside, inside

  var other: Self { self == .outside ? .inside : .outside }

  /// The state behind `run`; nil when a run like this cannot stand in this state.
  ///
  /// - Parameter allowsText: whether quotes in unquoted fields are taken for bytes like any other, as some tables need.
  func after(_ run: QuoteRun, allowsText: Bool) -> Self? {
    if run.isTooLong { return nil }
    switch self {
    case .outside:
      // The first opens a field. An even number is closed again, which has to be at the field's end.
      if run.isAtFieldStart { return run.isOdd ? .inside : run.isAtFieldEnd ? .outside : nil }
      return allowsText && !(run.isOdd && run.isAtFieldEnd) ? .outside : nil
    case .inside:
      // Each two are one of the field's own. One that is left closes the field.
      if !run.isOdd { return .inside }
      return run.isAtFieldEnd ? .outside : nil
    }
  }
}

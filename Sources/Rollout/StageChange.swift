/// A change of a stage, as the audit tells it: `shadow to ramp 5 %`.
package struct StageChange: Hashable, Sendable {
  package let from: Stage
  /// How many customers got our answers before; nil in every stage but `ramp`.
  package let shareBefore: RampShare?
  package let to: Stage
  /// How many get them then; nil in every stage but `ramp`.
  package let share: RampShare?

  /// Reads the beginning of a text, which ends there or goes on with a comma or a colon: `ramp 5 % to live, forced: ticket 4`.
  ///
  /// Nil for anything else, as where a newer binary's stage is named.
  package init?(beginning text: String) {
    let words = text.prefix { $0 != "," && $0 != ":" }.split(separator: " ", omittingEmptySubsequences: false)
    guard let middle = words.firstIndex(of: "to"), let before = Self.read(words[..<middle]),
      let after = Self.read(words[(middle + 1)...])
    else { return nil }
    (from, shareBefore) = before
    (to, share) = after
  }

  /// Reads what `Move.name` wrote.
  private static func read(_ words: ArraySlice<Substring>) -> (Stage, RampShare?)? {
    guard let first = words.first, let stage = Stage(rawValue: String(first)) else { return nil }
    let rest = words.dropFirst().map(String.init)
    if stage != .ramp {
      guard rest.isEmpty else { return nil }
      return (stage, nil)
    }
    guard rest.count == 2, rest[1] == "%", let share = RampShare(rest[0]) else { return nil }
    return (stage, share)
  }
}

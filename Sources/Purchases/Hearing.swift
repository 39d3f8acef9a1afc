import Time

/// Who is heard about one field, statement after statement by authority: one rule for what the fold chooses and for what
/// is shown of it.
///
/// A signed payload that leaves a field out which speaks by its absence says "none": whatever is not later is silenced.
struct Hearing<Field: FactField> {
  let field: Field
  let rule: FoldRules<Field>.Rule
  private var silencedUntil: Milliseconds?

  init(_ field: Field, _ rules: FoldRules<Field>) {
    self.field = field
    rule = rules[field]
  }

  /// Hears the next statement; says why its word does not count, nil if it may.
  mutating func objection<Key>(to statement: Statement<Key, Field>) -> Verdict? {
    guard !rule.silenced.contains(statement.source) else { return .noVote }
    if let silencedUntil, statement.rank.asOf <= silencedUntil { return .silenced }
    let isStated = statement.facts[field] != nil && !statement.facts.isInferred(field)
    if !isStated, rule.absence == .speaks, statement.source.speaksByAbsence { silencedUntil = statement.rank.asOf }
    return nil
  }
}
